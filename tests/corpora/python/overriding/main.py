from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Shape(ABC):
    name = "shape"

    @abstractmethod
    def area(self):
        raise NotImplementedError

    def describe(self):
        return self.area()


class Square(Shape):
    name = "square"

    def area(self):
        return 1


class Small(Square):
    def describe(self):
        return super().describe()

    def area(self):
        return 0


class HasArea(Protocol):
    def area(self): ...


class Container(Generic[T]):
    def get(self) -> T: ...


class Shapes(Container[Shape], dict):
    def get(self) -> Shape:
        return Square()

    def __len__(self):
        return 1


def use(shape: Shape, has: HasArea, shapes: Shapes):
    shape.area()
    has.area()
    shapes.get().describe()
