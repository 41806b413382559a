from .cloaking import cloak as cloak
from .earth import Area as Area
from .planar_laplace import PlanarLaplace as PlanarLaplace
from .reciprocal import Reciprocal as Reciprocal
from .squares import Regions as Regions
from .trajectories import Trajectories as Trajectories
from .unicity import Unicity as Unicity
from .unicity import unicity as unicity
