from .names import *
from . import names


def use():
    shown()
    names.hidden()
    return CONSTANT, len([])
