from .baskets import Baskets as Baskets
from .item_tree import balanced as balanced
from .logs import LogCounts as LogCounts
from .logs import private_counts as private_counts
from .reading import read as read
