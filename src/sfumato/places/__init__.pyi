from .earth import Area as Area
from .trajectories import Trajectories as Trajectories
