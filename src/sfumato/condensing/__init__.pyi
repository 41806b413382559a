from .condensation import Condensation as Condensation
from .stream import CondensationStream as CondensationStream
from .synthetic import SyntheticRecords as SyntheticRecords
