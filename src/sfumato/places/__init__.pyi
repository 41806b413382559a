from .earth import Area as Area
from .trajectories import Trajectories as Trajectories
from .unicity import Unicity as Unicity
from .unicity import unicity as unicity
