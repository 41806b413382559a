from .attack_pictures import draw_attack_rates as draw_attack_rates
from .comparison import ReleaseComparison as ReleaseComparison
from .hiding_pictures import draw_hiding_costs as draw_hiding_costs
from .solution_scatter import ScatterLabels as ScatterLabels
