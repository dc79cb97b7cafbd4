def configure(name, *, level=1, **extra):
    return name, level, extra


class Options:
    def __init__(self, depth=0):
        self.depth = depth


def use():
    configure("a", level=2, other=3)
    configure(name="b")
    Options(depth=1).depth
