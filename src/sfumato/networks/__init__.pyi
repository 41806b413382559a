from .network import Network as Network
from .reading import read as read
