from .condensation import Condensation as Condensation
from .release import SyntheticRecords as SyntheticRecords
from .stream import CondensationStream as CondensationStream
