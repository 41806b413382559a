from .attack_pictures import draw_attacks as draw_attacks
from .hiding_pictures import draw_hidings as draw_hidings
