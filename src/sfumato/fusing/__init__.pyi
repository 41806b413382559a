from .one_process import fuse as fuse
from .party import Party as Party
from .requirements import KAnonymityRequirement as KAnonymityRequirement
