"""In which order a class and those above it are asked for a member: C3, as Python has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_MOST_ABOVE = 300


def linearized(start: int, bases: Mapping[int, Sequence[int]]) -> list[int]:
    """C3, without recursion; where it has no answer, or a class inherits itself, each class at its first mention, nearest first."""
    near: list[int] = [start]
    for owner in near:
        if len(near) > _MOST_ABOVE:
            break
        near += [base for base in dict.fromkeys(bases.get(owner, ())) if base not in near]
    done: dict[int, list[int]] = {}
    for _ in range(len(near)):
        for owner in reversed(near):
            parents = list(dict.fromkeys(base for base in bases.get(owner, ()) if base in near))
            if owner not in done and all(parent in done for parent in parents):
                merged = _merged([*(done[parent] for parent in parents), parents])
                if merged is None:
                    return near
                done[owner] = [owner, *merged]
        if start in done:
            return done[start]
    return near


def _merged(sequences: list[list[int]]) -> list[int] | None:
    left = [list(sequence) for sequence in sequences if sequence]
    found: list[int] = []
    while left:
        head = next((item[0] for item in left if not any(item[0] in other[1:] for other in left)), None)
        if head is None:
            return None
        found.append(head)
        left = [rest for item in left if (rest := [other for other in item if other != head])]
    return found
