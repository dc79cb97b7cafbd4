"""What every Python module has of itself: `__name__`, `__file__` and the like, which no module binds."""

from __future__ import annotations

from pathlib import Path

from support import crawl_with_ty, write_tree

from query.facts.index import open_index

MODULE = """\
print(__name__, __file__, __doc__)


class Named:
    __name__ = "own"
    told = __name__
    described = __doc__

    def tell(self):
        return __name__, __package__


def shadowed(__file__):
    return __file__


def unknown(thing):
    return thing.__name__
"""


def test_what_a_module_has_of_itself_is_an_attribute_of_modules(tmp_path: Path) -> None:
    """Unless a class or a function binds the name; what a class body has of itself, and a member of what nobody knows, stay open."""
    crawl_with_ty(write_tree(tmp_path / "tree", {"a.py": MODULE}), jobs=1)
    with open_index(tmp_path / "tree") as index:
        rows = index.rows(
            "SELECT line, name, symbol FROM occurrences WHERE starts_with(name, '__') AND list_contains(roles, 'read') ORDER BY ALL"
        )
        checked = index.rows("SELECT cross_disagreed FROM runs")
    of_modules = "python python stdlib . types/ModuleType#"
    assert rows == [
        (0, "__doc__", f"{of_modules}__doc__."),
        (0, "__file__", f"{of_modules}__file__."),
        (0, "__name__", f"{of_modules}__name__."),
        (5, "__name__", "python . workspace . a/Named#__name__."),
        (6, "__doc__", None),
        (9, "__name__", f"{of_modules}__name__."),
        (9, "__package__", f"{of_modules}__package__."),
        (13, "__file__", "python . workspace . a/shadowed().(__file__)"),
        (17, "__name__", None),
    ]
    assert checked == [(0,)]
