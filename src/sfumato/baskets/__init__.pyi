from .baskets import Baskets as Baskets
from .reading import read as read
from .item_tree import balanced as balanced
