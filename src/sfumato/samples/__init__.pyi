from .census import Cardinalities as Cardinalities
from .census import generate_census as generate_census
from .population import generate as generate
