"""Why much of a language is unresolved: `status` says it of every language with more than a twelfth."""

from __future__ import annotations

from pathlib import Path

import pytest
from query_support import report_text
from support import crawl_with_ty, write_tree

from indexer.model import Role
from query.facts import status, unresolved
from query.facts.index import open_index


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
            "names without a definition": 30 / 72,
            "imported names": 2 / 72,
        }
    )
    [line] = [line for line in text.split("\n") if "of its identifiers; of these" in line]
    assert "56% members of values whose type is unknown, 42% names without a definition" in line
    assert line.endswith("44% in tests/data/cases")


def test_nothing_is_said_where_nearly_all_is_resolved(tmp_path: Path):
    sound = "".join(f"def f{number}(a: int) -> int:\n    return a\n\n\n" for number in range(400))
    root = write_tree(tmp_path / "work", {"a.py": sound + "".join(f"nothing{number}\n" for number in range(60))})
    crawl_with_ty(root)
    with open_index(root) as index:
        assert unresolved.reasons(index) == []
        assert "of its identifiers" not in report_text(status.status(index))


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("return x.one", "one", "members of values whose type is unknown"),
        ("return x->one;", "one", "members of values whose type is unknown"),
        ("let a = serde::one(1);", "one", "names below a module or type that is unknown"),
        ("one!(a)", "one", "in macros and attributes"),
        ("#[one(a)]", "one", "in macros and attributes"),
        ("if one != 2", "one", "names without a definition"),
        ("[...one]", "one", "names without a definition"),
    ],
)
def test_kinds_are_told_by_what_stands_around(text: str, name: str, kind: str):
    head = "" if text.startswith("#") else "\U0001f389"  # two UTF-16 units
    col = text.index(name) + 2 * len(head)
    assert unresolved._kind(head + text, col, col + len(name), 0) == kind


def test_a_name_that_an_argument_is_given_by_is_a_kind_of_its_own():
    """`f(one=1)` of what nobody knows, or of what takes any name."""
    assert unresolved._kind("f(one=1)", 2, 5, int(Role.KEYWORD)) == "names of arguments and fields"


def test_lines_that_only_some_builds_have_are_told_apart():
    """Their names are unresolved because this build leaves them out, or because a macro puts them elsewhere; a guard leaves nothing out."""
    text = """#ifndef A_H
#define A_H
int plain(void);
#if defined(WIN)
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
    found = unresolved.by_directives([line.encode() for line in text.splitlines()])
    assert {line for line, kind in found.items() if kind == "in branches of #if"} == {3, 4, 5, 6, 7, 8, 9}
    assert {line for line, kind in found.items() if kind == "in macros and attributes"} == {1, 11, 12, 13}
    assert unresolved.by_directives([b"#endif", b"#if", b""]) == {}
