from .charts.bars import draw_hiding_costs as draw_hiding_costs
from .charts.rates import draw_attack_rates as draw_attack_rates
from .charts.scatter import ScatterLabels as ScatterLabels
from .comparison import ReleaseComparison as ReleaseComparison
