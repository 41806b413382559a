from .algorithms import check_algorithm as check_algorithm
from .attacks import check_attack as check_attack
from .formats import check_format as check_format
from .measures import check_measure as check_measure
from .models import check_level_equals_oracle as check_level_equals_oracle
from .models import check_model as check_model
from .suite import every_law as every_law
from .suite import laws_of as laws_of
