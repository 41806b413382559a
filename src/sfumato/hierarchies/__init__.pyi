from .builder import Builder as Builder
from .drawing import draw as draw
from .hierarchy import Hierarchy as Hierarchy
from .intervals import Intervals as Intervals
from .ordered_groups import OrderedGroups as OrderedGroups
from .prefixes import Prefixes as Prefixes
from .proposing import automatic as automatic
from .taxonomy import Taxonomy as Taxonomy
