from typing import overload


@overload
def convert(x: int) -> int: ...
@overload
def convert(x: str) -> str: ...
def convert(x):
    return x


def first(items: list[str]):
    convert(1)
    convert("a")
    for item in items:
        item.upper()
    return [entry.lower() for entry in items]
