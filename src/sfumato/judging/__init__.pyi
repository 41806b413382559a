from .comparing.classification import compare_classifiers as compare_classifiers
from .comparing.classification import hold_out as hold_out
from .comparing.moments import compare_moments as compare_moments
from .comparing.nearest import nearest_originals as nearest_originals
from .comparing.regression import compare_regressions as compare_regressions
from .comparing.tabulation import compare_tabulations as compare_tabulations
from .comparing.utility import compare_utility as compare_utility
