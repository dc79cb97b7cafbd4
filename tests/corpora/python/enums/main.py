from enum import Enum
from typing import NamedTuple


class Color(Enum):
    RED = 1
    BLUE = 2

    @property
    def label(self):
        return self.name

    @classmethod
    def first(cls):
        return cls.RED


class Pair(NamedTuple):
    left: int
    right: Color = Color.RED


Color.RED.label
Color("x")
Color.first()
Pair(1, right=Color.BLUE).right.label
