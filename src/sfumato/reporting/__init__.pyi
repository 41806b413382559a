from .attack_pictures import draw_attacks as draw_attacks
from .comparison import ReleaseComparison as ReleaseComparison
from .hiding_pictures import draw_hidings as draw_hidings
from .solution_scatter import ScatterWords as ScatterWords
