from .census import Cardinalities as Cardinalities
from .census import generate_census as generate_census
from .changing_population import generate_series as generate_series
from .population import generate as generate
from .six_patients import AttackExample as AttackExample
from .six_patients import attack_example_of as attack_example_of
from .six_patients import attack_examples as attack_examples
