from functools import cached_property


class Box:
    @property
    def size(self):
        return self._measure()

    @size.setter
    def size(self, value):
        self._size = value

    @cached_property
    def cached(self):
        return self.size

    def _measure(self):
        return 1


class Child(Box):
    @property
    def size(self):
        return super().size


def read(box: Box):
    box.size
    box.size = 2
    return box.cached
