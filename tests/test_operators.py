"""Operators, loops and conditions of C++, Rust and TypeScript: what is asked where, and what nobody needs to ask."""

from __future__ import annotations

import pytest

from indexer.languages import record_of
from indexer.model import Basis, Operation, SymbolFlag
from indexer.syntax import parse
from indexer.syntax.model import Receivers


def _receivers(language: str, text: str) -> Receivers:
    return parse(language, f"file.{language}", text.encode(), "file").receivers


def _asked(language: str, text: str) -> list[tuple[str, int, str, str]]:
    """(operation, column at which is asked, or -1, basis, what is known without an answer), in document order."""
    found = _receivers(language, text)
    return [
        (
            Operation(found.operation[at]).label,
            found.at_col[at] if found.ask[at] else -1,
            Basis(found.basis[at]).name.lower(),
            Basis(found.silent[at]).name.lower(),
        )
        for at in range(len(found))
    ]


@pytest.mark.parametrize(
    ("language", "text", "asked"),
    [
        ("cpp", "M f(M a, M b) { return a + b; }", [("add", 25, "sign", "elsewhere")]),
        ("cpp", "int f(M a) { return a[1]; }", [("get_item", 21, "sign", "elsewhere")]),
        ("cpp", "void f(M a, M b) { a += b; }", [("add_in_place", 21, "sign", "elsewhere")]),
        ("cpp", "template <class T> T f(T a) { return -a; }", [("negate", 37, "sign", "unknown")]),
        ("cpp", "void f(M a) { if (a) return; }", [("truth", 18, "value", "elsewhere")]),
        ("cpp", "void f(M a) { for (auto x : a.all()) {} }", [("iterate", 30, "value", "elsewhere")]),
        ("rust", "fn f(a: M, b: M) -> M { a + b }", [("add", 26, "sign", "unknown")]),
        ("rust", "fn f(a: M) -> R { g(a)? }", [("return_early", 22, "sign", "unknown")]),
        ("rust", "fn f(a: &M) { a[0]; }", [("get_item", 14, "value", "elsewhere"), ("get_item", 18, "sign", "unknown")]),
        ("rust", "fn f(a: M) { show!(a + a); }", [("add", 21, "sign", "unknown")]),
        ("rust", "fn f(a: M) { for x in a.all() {} }", [("iterate", 29, "value", "elsewhere")]),
        ("typescript", "for (const x of shelf.items) {}", [("iterate", 22, "value", "value")]),
        ("typescript", "const a = `x ${money}`;", [("text", 15, "value", "value")]),
        ("typescript", "const a = money + 1;", [("primitive", 10, "value", "value")]),
        ("typescript", "const a = make() < 1;", [("primitive", 10, "value", "result")]),
        ("typescript", "const a = `${n.length + (b ? 1 : 'x')}`;", []),
        ("javascript", "for (let i = 0; i < xs.length; i++) xs[i];", []),
    ],
)
def test_a_server_is_asked_at_a_sign_or_for_the_type_of_a_value(language: str, text: str, asked: list[tuple[str, int, str, str]]):
    assert _asked(language, text) == asked


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("cpp", "int f(int a, double b) { return a + b * 2 - (int)g(); }"),
        ("cpp", "int f(char *p) { p[1]; *p; return p + 1; }"),
        ("cpp", "int f(V *p) { return p->x; }"),
        ("cpp", "int f(int a) { while (a < 3) ++a; return a ? 1 : 2; }"),
        ("cpp", "int f() { return g(1); }"),
        ("rust", "fn f(a: usize, b: &u8, c: &[M]) { let d = 1; a + d - 2; *b; &c[0]; a as u8 == 3; }"),
        ("typescript", "for (const x of [1, 2]) {} const y = `${1}`; const z = { ...y };"),
    ],
)
def test_nothing_is_asked_about_numbers_pointers_and_literals(language: str, text: str):
    assert _asked(language, text) == []


def test_signs_in_the_text_of_a_macro_are_known_to_nobody():
    unknown = [("remainder", -1, "unknown", "unknown")]
    assert _asked("cpp", "#define REM(a, b) ((a) % (b)) // + - \n#define TEN (5 + 5)\n") == unknown
    assert _asked("rust", "macro_rules! rem { ($a:expr) => { $a % 2 }; }") == unknown


def test_a_declaration_constructs_and_a_template_holds():
    text = "extern V a; V b; V *c; V &d = b; V e = make(); struct W : V { V f; }; std::vector<V> g; auto h = get<V *>();"
    found = _receivers("cpp", text)
    made = [at for at in range(len(found)) if found.operation[at] in (Operation.CONSTRUCT, Operation.HOLD)]
    assert [(Operation(found.operation[at]).label, found.col[at]) for at in made] == [
        ("construct", text.index("V b")),
        ("construct", text.index("V {")),
        ("construct", text.index("V f")),
        ("construct", text.index("vector")),
        ("hold", text.index("V> g")),
    ]  # fmt: skip


def test_operators_and_conversions_are_called_as_they_are_written_without_spaces():
    text = 'struct M { explicit operator bool(); operator  unsigned long(); M operator + (M); M operator""_m(int); }; M::operator T*() {}'
    names = {symbol.name for symbol in parse("cpp", "m.cpp", text.encode(), "m").symbols}
    assert names >= {"operator bool", "operator unsigned long", "operator+", 'operator""_m', "operator T*"}


def test_methods_of_an_implementation_are_told_from_others():
    text = b"struct P; impl From<i32> for P { fn from(a: i32) -> P { P } } impl P { fn new() -> P { P } }"
    marked = {symbol.name: SymbolFlag.IMPLEMENTS in symbol.flags for symbol in parse("rust", "p.rs", text, "p").symbols}
    assert (marked["from"], marked["new"]) == (True, False)


@pytest.mark.parametrize("language", ["cpp", "rust", "typescript", "javascript"])
def test_what_a_sign_may_run_is_known_of_each_operation_that_is_asked_about(language: str):
    record = record_of(language)
    assert {Operation[word.upper()] for word, _ in record.operations}
    assert all(record.operates(name) for _, groups in record.operations for names in groups for name in names)
    assert not record.runs_unnamed("a_name_of_nothing")
