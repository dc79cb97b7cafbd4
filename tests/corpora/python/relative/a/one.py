from . import from_init, two
from .two import second
from ..b.three import third
from .. import b


def first():
    from_init()
    two.second()
    second()
    third()
    b.three.third()
