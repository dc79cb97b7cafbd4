import collections
import json
import os.path
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Point:
    x: int
    y: int = field(default=0)

    def path(self) -> Path:
        return Path("a") / str(self.x)


class Counter(collections.OrderedDict):
    def items(self):
        return super().items()


def use():
    point = Point(x=1, y=2)
    json.dumps({}, sort_keys=True)
    os.path.join("a", "b")
    point.path().exists()
    point.path().parent.mkdir(parents=True)
    "a".upper().split()
    Counter().items()
