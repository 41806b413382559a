from .accountant import Accountant as Accountant
from .adaptive_grid import PrivateGrid as PrivateGrid
from .answers import PrivateAnswer as PrivateAnswer
from .answers import PrivateCounts as PrivateCounts
from .histograms import clip_negative as clip_negative
from .histograms import make_consistent as make_consistent
from .histograms import merge_cells as merge_cells
from .private_table import PrivateTable as PrivateTable
