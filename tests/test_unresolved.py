"""Why much of a language is unresolved: `status` says it of every language with more than a twelfth."""

from __future__ import annotations

from pathlib import Path

import pytest
from query_support import report_text
from support import crawl_with_ty, write_tree

from indexer.model import Role
from query.facts import status, unresolved
from query.facts.index import Index, open_index
from query.facts.open_names import Around, Kind, Open, Text, by_directives, kinds, stands_as
from query.facts.sources import Sources


def test_status_tells_where_unresolved_identifiers_lie_and_as_what_they_stand(tmp_path: Path):
    sound = "".join(f"def f{number}(a: int) -> int:\n    return a\n\n\n" for number in range(40))
    members = "".join(f"def g{number}(x):\n    return x.one.two\n\n\n" for number in range(20))
    names = "from nowhere import thing\n" + "".join(f"nothing{number}\n" for number in range(30))
    root = write_tree(tmp_path / "work", {"src/sound.py": sound, "src/members.py": members, "tests/data/cases/names.py": names})
    made = crawl_with_ty(root)
    with open_index(root) as index:
        [found] = unresolved.reasons(index)
        text = report_text(status.status(index))
    assert found["language"] == "python"
    assert found["count"] == made.manifest["counts"]["unresolved_occurrences"] == 72
    assert (found["folder"], round(found["in_folder"], 2)) == ("tests/data/cases", 0.44)
    assert found["kinds"] == pytest.approx(
        {
            "members of values whose type is unknown": 40 / 72,
            "names that their file binds nowhere": 30 / 72,
            "of what unresolved imports bring": 2 / 72,
        }
    )
    assert (found["looked_at"], found["naming_nothing"]) == (72, pytest.approx(30 / 72))
    [line] = [line for line in text.split("\n") if "of its identifiers, " in line]
    assert f"{found['share'] * 42 / 72:.1%} but for what names nothing here; of these 56% members of values" in line
    assert "42% names that their file binds nowhere, 3% of what unresolved imports bring, 44% in files with unresolved imports" in line
    assert line.endswith("44% in tests/data/cases")


def test_nothing_is_said_where_nearly_all_is_resolved(tmp_path: Path):
    sound = "".join(f"def f{number}(a: int) -> int:\n    return a\n\n\n" for number in range(400))
    root = write_tree(tmp_path / "work", {"a.py": sound + "".join(f"nothing{number}\n" for number in range(60))})
    crawl_with_ty(root)
    with open_index(root) as index:
        assert unresolved.reasons(index) == []
        assert "of its identifiers" not in report_text(status.status(index))


BOUND = """
from nowhere import away as local
import lost.part
import os
for item in os.environ:
    print(item)
with open("x") as handle:
    handle.read()
try:
    pass
except OSError as problem:
    print(problem)
if (walrus := os.sep):
    print(walrus)
match os.sep:
    case [first, *others]:
        print(first, others)
def fills():
    global later, never
    later = 1
    del never
    inner = 1
    def reads():
        nonlocal inner
        return inner
    return [each for each in inner]
def generic[T](x: T) -> T:
    return x
class Holder:
    member = 1
print(later, never, inner, member, each, T, item, Holder)
print(__name__, __file__, len, reveal)
local.deep(key=1).deeper
lost.part.thing[0].more
gone.one(2)[3].two
gone(by=1)
gone("a)", by2=1).three
x.four
def takes(x): return x.five
"""


def test_only_a_name_that_nothing_in_its_file_binds_is_said_to_be_bound_nowhere(tmp_path: Path):
    """Every statement that binds a name is planted, in whatever scope; a star import ends all certainty."""
    root = write_tree(
        tmp_path / "work", {"a.py": BOUND, "b.py": f"from os.path import *\n{BOUND}", "c.py": f"from nowhere import *\n{BOUND}"}
    )
    crawl_with_ty(root)
    with open_index(root) as index:
        told = {
            path: {(item.name, item.line + 1): kind for item, kind in zip(found, _kinds_of(index, path, found, has_star), strict=True)}
            for path, _, has_star, found in unresolved.open_in_files(index, "python")
        }
    lines = {line: number for number, line in enumerate(BOUND.split("\n"), 1)}
    by_kind: dict[str, set[str]] = {}
    for (name, _), kind in told["a.py"].items():
        by_kind.setdefault(kind, set()).add(name)
    assert by_kind[Kind.UNBOUND] == {"reveal", "gone"}
    assert by_kind[Kind.OF_UNBOUND] == {"one", "two", "by"}, "and not what stands behind a string that holds a bracket"
    assert {"nowhere", "away", "local", "deep", "deeper", "key", "lost", "part", "thing", "more"} <= by_kind[Kind.OF_IMPORT]
    assert told["a.py"]["four", lines["x.four"]] is Kind.MEMBER, "the file binds an x, in another scope"
    for path in ("b.py", "c.py"):
        assert not {Kind.UNBOUND, Kind.OF_UNBOUND} & set(told[path].values())


def _kinds_of(index: Index, path: str, found: list[Open], has_star: bool) -> list[Kind]:
    lines = Sources(index).lines(path)
    assert lines is not None
    return kinds(found, lines, Around(binds=not has_star))


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("return x.one", "one", Kind.MEMBER),
        ("return x->one;", "one", Kind.MEMBER),
        ("let a = serde::one(1);", "one", Kind.PATH),
        ("one!(a)", "one", Kind.MACRO),
        ("#[one(a)]", "one", Kind.MACRO),
        ("if one != 2", "one", Kind.OTHER),
        ("[...one]", "one", Kind.OTHER),
    ],
)
def test_kinds_are_told_by_what_stands_around(text: str, name: str, kind: Kind):
    for head in ("", "é") if text.startswith("#") else ("", "\U0001f389"):  # two UTF-16 units
        line = head * (not text.startswith("#")) + text
        read = Text([line.encode()]).line(0)
        col = read.index(name)
        assert col == len(line[: line.index(name)].encode("utf-16-le")) // 2
        assert stands_as(read, col, col + len(name), 0) is kind


@pytest.mark.parametrize(
    ("text", "receiver"),
    [
        ("a.b", (0, 1)),
        ("a.f(1, (2), [3]).b", (0, 3)),
        ("a[0]\n  (c)\n  .b", (0, 1)),
        ("a  # not this (\n  .b", None),
        ('f("(").b', None),
        ("// a\n/x/.b", None),
        ("f(a[)].b", None),
        ("'a'.b", None),
        ("...b", None),
        ("(x).b", None),
        ("\U0001f389 a?.b", (0, 4)),
        (".b", None),
    ],
)
def test_what_a_member_is_taken_of_is_told_only_where_the_text_leaves_no_doubt(text: str, receiver: tuple[int, int] | None):
    read = Text([line.encode() for line in text.split("\n")])
    last = text.count("\n")
    assert read.receiver(last, read.line(last).rindex("b")) == receiver


def test_globals_of_a_test_framework_are_a_kind_of_their_own():
    """Where their types are not here; and not what the file binds itself."""
    found = [Open(0, 0, 8, "describe", 8, False, False), Open(1, 0, 2, "it", 8, True, False), Open(2, 0, 5, "other", 8, False, False)]
    text = [b"describe(1)", b"it(2)", b"other(3)"]
    assert kinds(found, text, Around(is_script_test=True)) == [Kind.TESTED, Kind.OTHER, Kind.OTHER]
    assert set(kinds(found, text, Around())) == {Kind.OTHER}


def test_a_name_that_an_argument_is_given_by_is_a_kind_of_its_own():
    """`f(one=1)` of what nobody knows, or of what takes any name."""
    assert stands_as("f(one=1)", 2, 5, int(Role.KEYWORD)) is Kind.KEY


def test_lines_that_only_some_builds_have_are_told_apart():
    """Their names are unresolved because this build leaves them out, or because a macro puts them elsewhere; a guard leaves nothing out."""
    text = """#ifndef A_H
#define A_H
int plain(void);
#if defined(WIN) && \\
    defined(X)
int there(void);
# ifdef DEEP
int deep(void);
# endif
#else
int here(void);
#endif
#define BOTH(x) \\
  one(x); \\
  two(x)
int last(void);
#endif
"""
    found = by_directives([line.encode() for line in text.splitlines()])
    assert {line for line, kind in found.items() if kind is Kind.CONDITION} == {0, 3, 4, 6}
    assert {line for line, kind in found.items() if kind is Kind.BRANCH} == {5, 7, 8, 9, 10}
    assert {line for line, kind in found.items() if kind is Kind.MACRO} == {1, 12, 13, 14}
    assert set(by_directives([b"#endif", b"#if", b""])) == {1}


def test_what_the_build_leaves_out_is_told_by_its_compiler_alone():
    """A branch may be read or not: the server has said of the one, by the role, that it is not."""
    text = [b"#ifdef A", b"one;", b"#else", b"two;", b"#endif", b"#ifdef B", b"three;", b"#endif"]
    found = [Open(1, 0, 3, "one", int(Role.READ | Role.MENTION), False, False), Open(3, 0, 3, "two", int(Role.READ), False, False)]
    assert kinds(found, text, Around(is_preprocessed=True)) == [Kind.LEFT_OUT, Kind.BRANCH]
    assert kinds(found[:1], text, Around()) == [Kind.OTHER], "in other languages the role says something else"
