from .party import Party as Party
from .protocol import fuse as fuse
from .session import KAnonymityRequirement as KAnonymityRequirement
