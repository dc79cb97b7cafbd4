"""Tests of PHPUnit: how it names them, and which classes run one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from query.facts.declarations import signatures
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.symbols import symbols_by_id

SELECTOR = re.compile(r"\\?[^\W\d]\w*(?:\\[^\W\d]\w*)*(?:::[^\W\d]\w*)?")
r"""A test as PHPUnit prints it: `Acme\Tests\ItemTest::testPrice`, or a class."""

_ABSTRACT = re.compile(r"\babstract\b")


def selectors_of(index: Index, test: int, heirs: Sequence[int]) -> list[tuple[str, int]]:
    """A test as each class that runs it has it, with the symbol that stands there; as its own class has it, where none does.

    Args:
        heirs: classes that have it of its own one, or by a trait.
    """
    own = scopes(index, [test])[test]
    assert own.container is not None
    owners = [own.container, *heirs]
    idle = {sym_id for sym_id, signature in signatures(index, owners).items() if _ABSTRACT.search(signature)}
    records = symbols_by_id(index, owners)
    named: list[tuple[str, int]] = []
    for owner in [owner for owner in owners if owner not in idle] or owners[:1]:
        of_class = records[owner].record.qualified_name.replace(".", "\\")
        named.append((f"{of_class}::{own.name}", test if owner == own.container else owner))
    return named


def filter_words(names: Iterable[str]) -> list[str]:
    """The words that make PHPUnit run these tests only, with each set of data that it gives them.

    Args:
        names: as `SELECTOR` has them; or the path of a file, which has a class of its own name.
    """
    return ["--filter", f"/^({'|'.join(dict.fromkeys(map(_pattern, names)))})( with data set .*)?$/"]


def _pattern(name: str) -> str:
    if name.endswith(".php"):
        return rf"(.*\\)?{re.escape(name.replace(os.sep, '/').rpartition('/')[2].removesuffix('.php'))}::.*"
    escaped = re.escape(name.removeprefix("\\"))
    return escaped if "::" in name else f"{escaped}::.*"
