"""C and C++ whose `#if` branches are no whole statements: each function is a symbol, and each identifier is there once."""

from __future__ import annotations

import re

import pytest

from indexer.syntax.tree import parse
from indexer.syntax.tree.conditional import repairs

AROUND = "int before(void) { return first(); }\n%s\nint behind(void) { return last(); }\n"
INNER = {
    "a brace that each branch opens": """int f(int a) {
#ifdef A
  if (a) {
#else
  if (b(a)) {
#endif
    c();
  }
  return 0;
}""",
    "a brace that one branch opens and another closes": """int f(int a) {
#ifdef A
  if (a) {
#endif
  b();
#ifdef A
  }
#endif
  return c();
}""",
    "an end of the function in each branch": """int f(int a) {
  b();
#if defined(A) && X(1)
  return 0;
}
#else
  return c();
}
#endif""",
    "two heads of one function": """#ifdef A
int f(int a) {
#else
int f(long a) {
#endif
  b();
  return c();
}""",
    "a condition without its statement": """int f(int a) {
#ifdef A
  if (b(a))
#else
  if (c(a))
#endif
    return 1;
  else
    return 0;
}""",
    "an else of its own": """int f(int a) {
  if (a) return b();
#ifdef A
  else if (a > 1) return 2;
#endif
  else return c();
}""",
    "a label before a branch": """int f(int a) {
  if (a) goto out;
  b();
 out:
#ifdef A
  a++;
#endif
  return c();
}""",
    "a group within a group": """int f(int a) {
#ifdef A
#ifdef B
  if (a) {
#else
  if (b(a)) {
#endif
#else
  {
#endif
    c();
  }
  return 0;
}""",
    "braces in strings and comments": """int f(int a) {
#ifdef A
  if (a) { /* } */
#else
  if (b('}')) { // }
#endif
    c("{{");
  }
  return 0;
}""",
}


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("what", INNER)
def test_a_function_whose_branches_do_not_balance_is_a_symbol_with_all_of_its_names(language: str, what: str) -> None:
    source = AROUND % INNER[what]
    found = parse(language, "a.c", source.encode(), "a")
    functions = {one.name: one for one in found.symbols[1:] if one.name in ("before", "f", "behind")}
    assert sorted(functions) == ["before", "behind", "f"]
    at = {name: (line, col) for name, line, col in zip(found.tokens.name, found.tokens.line, found.tokens.col, strict=True)}
    assert {"b", "c", "first", "last", "A"} <= at.keys()
    span = functions["f"].span
    for name in ("b", "c"):
        assert (span.line, span.col) <= at[name] < (span.end_line, span.end_col), f"{name} is called by f"
    places = list(zip(found.tokens.line, found.tokens.col, strict=True))
    assert len(places) == len(set(places)), "no identifier is there twice"
    lines = source.split("\n")
    for name, line, col in zip(found.tokens.name, found.tokens.line, found.tokens.col, strict=True):
        assert lines[line][col:].startswith(name), "positions are those of the file"
    code = re.sub(r"//.*|/\*.*?\*/|\"[^\"]*\"|'[^']*'|#\s*\w+", "", source)
    keywords = {"int", "long", "void", "return", "if", "else", "goto", "defined", "out"}
    assert sorted(found.tokens.name) == sorted(word for word in re.findall(r"\b[A-Za-z_]\w*", code) if word not in keywords)


def test_what_is_passed_over_is_said() -> None:
    """A file of which a branch was left out is not read as a whole, so answers about it are not complete by its text alone."""
    assert parse("c", "a.c", (AROUND % INNER["two heads of one function"]).encode(), "a").error_lines
    assert parse("c", "a.c", (AROUND % "#ifdef A\nint f(void) { return 1; }\n#endif").encode(), "a").error_lines == []


def test_of_two_heads_the_one_of_this_machine_has_the_body() -> None:
    heads = "#ifdef WIN32\nint wide(int a) {\n#else\nint main(int a) {\n#endif\n  return b();\n}"
    bodies = {one.name: one.span.end_line for one in parse("c", "a.c", (AROUND % heads).encode(), "a").symbols[1:]}
    assert bodies["main"] == 7
    assert bodies.get("wide", 0) < 7


def test_repairs_have_the_length_and_the_lines_of_the_text() -> None:
    for inner in INNER.values():
        source = (AROUND % inner).encode()
        for made in repairs(source):
            assert len(made.text) == len(source)
            assert made.text.count(b"\n") == source.count(b"\n")
            assert all(kept == ord(" ") or kept == was for kept, was in zip(made.text, source, strict=True))
            assert made.blanks == sorted(made.blanks)


@pytest.mark.parametrize(
    "text",
    ["#if", "#endif\n#else\n", "#if A\n" * 500, "#if A\n{\n" * 3000 + "}\n#endif\n" * 3000, "'\n#if A\n\"", "#if A /*\n*/ {\n#endif"],
)
def test_a_text_of_conditions_only_ends(text: str) -> None:
    for made in repairs(text.encode()):
        assert len(made.text) == len(text)
    parse("c", "a.c", text.encode(), "a")
