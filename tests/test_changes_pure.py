"""How a change is read, compared and judged: from texts alone, without git and without an index."""

from __future__ import annotations

import difflib

import pytest

from indexer.model import SymbolKind
from query.changes.compare import Changed, Side, compare, match_moved
from query.changes.diff import FileChange, Hunk, parse
from query.changes.model import AffectedTest
from query.changes.outlines import from_text
from query.changes.rules import LEVELS, RAISING, RULES, Facts, at_least, judge, worst
from query.changes.scan import code
from query.changes.selection import LIKELY_AT_LEAST, with_likely
from query.changes.signatures import is_compatible, stands_in
from query.facts import lexed

# ---- what git prints

_ONE = b"1" * 40
_TWO = b"2" * 40


def _raw(letter: bytes, *names: bytes, modes: tuple[bytes, bytes] = (b"100644", b"100644")) -> bytes:
    return b":%s %s %s %s %s\0%s\0" % (*modes, _ONE, _TWO, letter, b"\0".join(names))


def test_hunks_are_half_open_and_an_empty_range_stands_before_its_line():
    text = (
        _raw(b"M", b"a.py")
        + b"\0diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
        + (b"@@ -0,0 +1 @@\n+first\n@@ -3,2 +3,0 @@ def f():\n-x\n-y\n@@ -9 +8,2 @@\n-x\n+y\n+z\n\\ No newline at end of file\n")
    )
    [change] = parse(text)
    assert change.hunks == (Hunk(0, 0, 0, 1), Hunk(2, 4, 3, 3), Hunk(8, 9, 7, 9))
    assert (change.status, change.old_blob, change.new_blob) == ("modified", _ONE.decode(), _TWO.decode())


def test_text_that_looks_like_a_diff_is_text():
    body = b"+diff --git a/x b/x\n+@@ -1,9 +1,9 @@\n+Binary files a/x and b/x differ\n-\\ No newline at end of file\n--- a/b\n+++ b/b\n"
    text = _raw(b"M", b"a.py") + _raw(b"M", b"b.py") + b"\0diff --git a/a.py b/a.py\n@@ -1,2 +1,4 @@\n" + body
    text += b"diff --git a/b.py b/b.py\n@@ -5 +5 @@\n-a\n+b\n"
    first, second = parse(text)
    assert (first.path, first.hunks, first.special) == ("a.py", (Hunk(0, 2, 0, 4),), "")
    assert (second.path, second.hunks) == ("b.py", (Hunk(4, 5, 4, 5),))


def test_files_without_lines_keep_their_place_in_the_listing():
    text = b"".join((
        _raw(b"M", b"mode.py", modes=(b"100644", b"100755")),
        _raw(b"R100", b"old.py", b"new.py"),
        _raw(b"M", b"logo.py"),
        _raw(b"U", b"both.py"),
        _raw(b"M", b"link", modes=(b"120000", b"120000")),
        _raw(b"T", b"became", modes=(b"120000", b"100644")),
        _raw(b"M", b"last.py"),
    ))  # fmt: skip
    text += b"\0diff --git a/mode.py b/mode.py\nold mode 100644\nnew mode 100755\n"
    text += b"diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
    text += b"diff --git a/logo.py b/logo.py\nBinary files a/logo.py and b/logo.py differ\n"
    text += b"diff --git a/link b/link\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    text += b"diff --git a/became b/became\ndeleted file mode 120000\n@@ -1 +0,0 @@\n-a\ndiff --git a/became b/became\n@@ -0,0 +1 @@\n+b\n"
    text += b"diff --git a/last.py b/last.py\n@@ -1 +1 @@\n-a\n+b\n"
    found = {item.path: item for item in parse(text)}
    assert (found["new.py"].status, found["new.py"].old_path) == ("renamed", "old.py")
    assert [found[name].special for name in ("mode.py", "logo.py", "both.py", "link", "became")] == [
        "", "binary", "conflict", "symlink", "symlink",
    ]  # fmt: skip
    assert found["last.py"].hunks == (Hunk(0, 1, 0, 1),)
    assert all(not found[name].hunks for name in found if name != "last.py")


def test_names_are_bytes_between_zeros():
    names = ["größe ü.py", 'quo"te.py', "new\nline.py", "tab\t.py", " lead.py"]
    text = b"".join(_raw(b"A", name.encode()) for name in names) + b"\0" + b"diff --git a b\n@@ -0,0 +1 @@\n+x\n" * len(names)
    assert [item.new_path for item in parse(text)] == names
    assert {item.old_path for item in parse(text)} == {""}


# ---- what became of symbols


def _side(text: str, path: str = "m.py") -> Side:
    outline = from_text(path, text.encode(), module="m")
    assert outline is not None
    return Side(outline, text.split("\n"))


def _lines(old: str, new: str) -> tuple[Hunk, ...]:
    """The lines that differ, as `git diff --unified=0` would count them."""
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    return tuple(Hunk(a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def _compare(old: str, new: str, path: str = "m.py", new_path: str = "") -> dict[str, str]:
    """What became of each symbol, by dotted name; `(was x)` behind what has another one."""
    change = FileChange("modified", path, new_path or path, "1", "2", _lines(old, new))
    return _named(match_moved(compare(change, _side(old, path), _side(new, new_path or path))))


def _named(changes: list[Changed]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in changes:
        was = ".".join(item.old[1].chain) if item.old and item.new and item.old[1].chain != item.new[1].chain else ""
        found[".".join(item.entity.chain) or "<module>"] = item.what + (f" (was {was})" if was else "")
    return found


CLASS = '''"""Things."""

LIMIT = 3


class Box(dict):
    """A box."""

    size = 1

    def open(self, lid):
        """Opens."""
        if lid:
            return self.size
        return 0

    def close(self):
        return 1


def last():
    return LIMIT
'''


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("return self.size", "return self.size + 1", {"Box.open": "body"}),
        ("def close(self):", "def close(self, hard=False):", {"Box.close": "signature"}),
        ("size = 1", "size = 2", {"Box.size": "body"}),
        ('"""A box."""', '"""A big box."""', {"Box": "docs"}),
        ("class Box(dict):", "class Box(list):", {"Box": "signature"}),
        ('"""Opens."""', '"""Opens it."""', {"Box.open": "docs"}),
        ("        return 0", "        return 0  # nothing", {"Box.open": "docs"}),
        ("            return self.size\n        return 0", "            return self.size\n            return 0", {"Box.open": "body"}),
        ("return self.size\n", "return (\n                self.size\n            )\n", {"Box.open": "body"}),
        ("        if lid:\n", "\n        if lid :\n", {"Box.open": "docs"}),
        ("LIMIT = 3\n", "LIMIT = 4\n", {"LIMIT": "body"}),
        ('"""Things."""\n', '"""Other things."""\n', {"<module>": "docs"}),
        ('"""Things."""\n', '"""Things."""\n\nimport os\n', {"<module>": "body"}),
        ("    def close(self):\n        return 1\n\n\n", "\n\n", {"Box.close": "removed"}),
        ("def last():\n    return LIMIT\n", "", {"last": "removed"}),
        ("def last():", "@cache\ndef last():", {"last": "body"}),
        ("def last():", "async def last():", {"last": "signature"}),
        ("def close(self):", "@staticmethod\n    def close(self):", {"Box.close": "signature"}),
        ("def close(self):", "@property\n    def close(self):", {"Box.close": "signature"}),
    ],
)
def test_a_change_belongs_to_the_innermost_symbol_whose_line_differs(before: str, after: str, expected: dict[str, str]):
    assert before in CLASS
    assert _compare(CLASS, CLASS.replace(before, after, 1)) == expected


def test_a_symbol_that_is_put_in_is_the_only_one_that_changes():
    assert _compare(CLASS, CLASS.replace("def last", "def new():\n    return 7\n\n\ndef last")) == {"new": "added"}
    assert _compare(CLASS, CLASS.replace("    def close", "    def lock(self):\n        return 5\n\n    def close")) == {
        "Box.lock": "added"
    }
    assert _compare(CLASS, CLASS + "\n\ndef at_the_end():\n    pass\n") == {"at_the_end": "added"}


BODY = "    total = 0\n    for item in items:\n        total += item.price * item.count\n    return total\n"


def test_much_the_same_code_under_another_name_is_renamed():
    old, new = f"def total(items):\n{BODY}", f"def price_of(items):\n{BODY}"
    assert _compare(old, new) == {"price_of": "renamed (was total)"}
    assert _compare(old, "def price_of(items):\n    return 1\n") == {"price_of": "added", "total": "removed"}


def test_short_functions_are_not_taken_for_each_other():
    assert _compare("def a():\n    return 1\n", "def b():\n    return 1\n") == {"a": "removed", "b": "added"}


def test_members_go_with_their_class_and_are_changed_only_where_they_differ():
    members = f"    def first(self, items):\n{BODY.replace('    ', '        ')}\n    def second(self):\n        return self.first([1])\n"
    old, new = f"class Old:\n{members}", f"class New:\n{members}".replace("[1]", "[2]")
    assert _compare(old, new) == {"New": "renamed (was Old)", "New.second": "body (was Old.second)"}


def test_a_function_that_goes_into_a_class_is_moved():
    inside = "class Cart:\n    pages = 1\n\n    def total(self, items):\n" + BODY.replace("    ", "        ")
    outside = f"class Cart:\n    pages = 1\n\n\ndef total(items):\n{BODY}"
    found = _compare(outside, inside)
    assert found == {"Cart.total": "added", "total": "removed"} or found == {"Cart.total": "moved (was total)"}


def test_methods_of_one_name_in_other_classes_are_not_moved():
    old = "class A:\n    def __init__(self, x):\n        self.x = x\n\n    def run(self):\n        return self.x\n"
    new = "class Z:\n    def __init__(self, port, host):\n        self.port = open(port)\n\n    def stop(self):\n        raise OSError\n"
    assert set(_compare(old, new).values()) == {"added", "removed"}


def test_a_renamed_file_moves_its_module_and_what_others_see_of_it():
    found = _compare(CLASS, CLASS.replace("return 1", "return 2"), "m.py", "n.py")
    assert found == {"<module>": "moved", "LIMIT": "moved", "Box": "moved", "Box.close": "body", "last": "moved"}


def test_a_type_and_a_function_of_one_name_are_told_apart():
    old = "struct area {\n  int a;\n};\nint area(int a) {\n  return a;\n}\n"
    assert _compare(old, old.replace("return a", "return 3"), "a.c") == {"area": "body"}
    change = FileChange("modified", "a.c", "a.c", "1", "2", (Hunk(4, 5, 4, 5),))
    [item] = compare(change, _side(old, "a.c"), _side(old.replace("return a", "return 3"), "a.c"))
    assert item.entity.signature == "int area(int a)"


def test_overloads_are_one_symbol():
    old = "int area(int a) {\n  return a;\n}\nint area(double a) {\n  return 2;\n}\n"
    assert _compare(old, old.replace("return 2", "return 3"), "a.cc") == {"area": "body"}


def test_variables_that_share_a_line_change_together():
    assert _compare("a, b = 1, 2\nc = 3\n", "a, b = 1, 4\nc = 3\n") == {"a": "body", "b": "body"}


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        (
            "a.go",
            "package a\n\nfunc (r *R) Do() int {\n\treturn 1\n}\n\ntype R struct{ x int }\n",
            ("return 1", "return 2"),
            {"R.Do": "body"},
        ),
        ("a.go", "package a\n\n// Do it.\nfunc Do() int {\n\treturn 1 // one\n}\n", ("// one", "// uno"), {"Do": "docs"}),
        (
            "a.ts",
            "export class A {\n  x = 1;\n  run(a: string): number {\n    return 1;\n  }\n}\n",
            ("return 1", "return 2"),
            {"A.run": "body"},
        ),
        (
            "a.ts",
            "export class A {\n  run(a: string): number {\n    return 1;\n  }\n}\n",
            ("a: string", "a?: string"),
            {"A.run": "signature"},
        ),
        ("a.ts", "const s = '// no comment';\n", ("no comment", "other"), {"s": "body"}),
        ("a.cc", "namespace g {\nint f() {\n  return 1;\n}\n}\n", ("return 1", "return 2"), {"g.f": "body"}),
        ("a.cc", "struct S {\n  int f();\n};\nint S::f() {\n  return 1;\n}\n", ("return 1", "return 2"), {"S.f": "body"}),
        ("a.rs", "impl A {\n    fn f(&self) -> u8 {\n        1\n    }\n}\n", ("        1", "        2"), {"A.f": "body"}),
    ],
)
def test_other_languages_are_compared_alike(path: str, old: str, new: tuple[str, str], expected: dict[str, str]):
    assert new[0] in old
    assert _compare(old, old.replace(*new), path) == expected


# ---- code without layout


@pytest.mark.parametrize(
    ("language", "old", "new", "same"),
    [
        ("python", "f(a, b)", "f(\n    a,\n    b,\n)", True),
        ("python", "f(a)", "f(\n    a,\n)", True),
        ("python", "x = (a,)", "x = (a)", False),
        ("python", "x[a,]", "x[a]", False),
        ("python", "return (a,)", "return (a)", False),
        ("python", "x = 'a'", 'x = "a"', True),
        ("python", "x = 'a#b'", "x = 'a#c'", False),
        ("python", "x = '''a'''", "x = '''b'''", False),
        ("python", "if a:\n  b", "if a:\n        b", True),
        ("python", "if a:\n    b\n    c", "if a:\n    b\nc", False),
        ("python", "a = 1 # x", "a = 1", True),
        ("python", "def f():\n    'doc'\n    pass", "def f():\n    pass", True),
        ("python", "a = 1 + \\\n    2", "a = 1 + 2", True),
        ("python", "a is not b", "a is b", False),
        ("python", "r'\\d'", "'\\d'", True),  # nothing but a string: documentation
        ("python", "x = r'\\d'", "x = '\\d'", False),
        ("go", "a := 1 // x", "a := 1 /* y */", True),
        ("go", "a := `// x`", "a := `// y`", False),
        ("typescript", "x.replace(/\\/\\//, 'a')", "x.replace(/\\/\\//, 'b')", False),
        ("c", "#define A 1\n", "#define A 2\n", False),
        ("rust", "let a = 'x'; // c", "let a = 'x';", True),
        ("no such language", "a", "b", False),
    ],
)
def test_layout_and_comments_are_no_code(language: str, old: str, new: str, same: bool):
    assert (code(language, old.split("\n")) == code(language, new.split("\n"))) is same


# ---- compatible declarations


@pytest.mark.parametrize(
    ("old", "new", "compatible"),
    [
        ("def f(a)", "def f(a, b=1)", True),
        ("def f(a)", "def f(a, b)", False),
        ("def f(a)", "def f(b)", False),
        ("def f(a, /)", "def f(b, /)", True),
        ("def f(a)", "def f(a, /)", False),
        ("def f(a, /)", "def f(a)", True),
        ("def f(a, b)", "def f(b, a)", False),
        ("def f(a, b)", "def f(a)", False),
        ("def f(a, b)", "def f(*args)", False),
        ("def f(a, /, b)", "def f(a, /, **more)", False),
        ("def f(a, b)", "def f(*args, **more)", True),
        ("def f(a: int) -> str", "def f(a: str) -> bytes", True),
        ("def f(a, b=1)", "def f(a, b)", False),
        ("def f(a, b)", "def f(a, b=1)", True),
        ("def f(a, b=1)", "def f(a, b=2)", True),
        ("def f(a)", "def f(a, *, k=1)", True),
        ("def f(a)", "def f(a, *, k)", False),
        ("def f(*, k=1)", "def f(*, k)", False),
        ("def f(*, k)", "def f(*, k=1)", True),
        ("def f(*, k)", "def f(k)", True),
        ("def f(*, k)", "def f(**more)", True),
        ("def f(*, k)", "def f()", False),
        ("def f(a, b)", "def f(a, *, b)", False),
        ("def f(*args)", "def f(a, *args)", False),
        ("def f(*args)", "def f(a=1, *args)", False),
        ("def f(*args)", "def f()", False),
        ("def f(**more)", "def f()", False),
        ("def f(**more)", "def f(a=1, **more)", True),
        ("def f(a)", "async def f(a)", False),
        ("def f(a)", "def f(a, *rest, **more)", True),
        ("def f(a) -> None:", "def f(a) -> None", True),
        ("def f(a, b)", "def f(b, *, a)", False),
        ("f(a", "def f(a, b=1)", False),
        ("def f(a, b, /)", "def f(b, a, /)", False),
        ("def f(a, b, /)", "def f(c, d, /)", True),
    ],
)
def test_python_declarations_are_compatible_where_every_call_still_fits(old: str, new: str, compatible: bool):
    assert is_compatible("python", int(SymbolKind.FUNCTION), old, new) is compatible


@pytest.mark.parametrize(
    ("language", "old", "new", "compatible"),
    [
        ("typescript", "run(a: string): number", "run(a: string, b?: number): number", True),
        ("typescript", "run(a: string): number", "run(a: string, b = 1): number", True),
        ("typescript", "run(a: string): number", "run(a: string, ...rest: string[]): number", True),
        ("typescript", "run(a: string): number", "run(a: string, b: number): number", False),
        ("typescript", "run(a?: string): number", "run(a: string): number", False),
        ("typescript", "run(a: string): number", "run(a?: string): number", True),
        ("typescript", "run(a: string): number", "run(a: number): number", False),
        ("typescript", "run(a: string): number", "run(a: string): string", False),
        ("typescript", "run(a: string, b: string)", "run(a: string)", False),
        ("typescript", "run(done: (e: Error, n: number) => void)", "run(finished: (e: Error, n: number) => void)", True),
        ("typescript", "run<T extends Array<string>>(a: T)", "run<T extends Array<string>>(a: T, b?: T)", True),
        ("typescript", "run({ a, b }: Options = {})", "run({ a, b }: Options = {}, c?: string)", True),
        ("go", "func Do(a int, b string) error", "func Do(x int, y string) error", True),
        ("go", "func Do(a, b int) error", "func Do(a int, b int) error", True),
        ("go", "func Do(a int) error", "func Do(a int, opts ...Option) error", True),
        ("go", "func Do(a int) error", "func Do(a int, b int) error", False),
        ("go", "func Do(a int) error", "func Do(a int64) error", False),
        ("go", "func Do(a int) error", "func Do(a int) (int, error)", False),
        ("go", "func (r *R) Do(a int)", "func (s *R) Do(b int)", True),
        ("go", "func (r *R) Do(a int)", "func (R) Do(a int)", True),
        ("go", "func (r R) Do(a int)", "func (r *R) Do(a int)", False),
        ("go", "func (r *R) Do(a int)", "func (r *Renamed) Do(a int)", True),
        ("go", "func Do(a int) (int, error)", "func Do(a int) (n int, err error)", True),
        ("go", "func Do(a int) int", "func Do(a int) (n int)", True),
        ("go", "func Do(a int) int", "func Do(a int) (n int, err error)", False),
        ("go", "func Do(int, string)", "func Do(int, ...string)", False),
        ("cpp", "int f(int a)", "int f(int b)", True),
        ("cpp", "int f(const std::string &a)", "int f(const std::string &name)", True),
        ("cpp", "int f(int a)", "int f(int a, int b = 2)", True),
        ("cpp", "int f(int a)", "int f(int a, int b)", False),
        ("cpp", "int f(int a)", "long f(int a)", False),
        ("cpp", "int f(int a) const", "int f(int a)", False),
        ("cpp", "int f(unsigned)", "int f(int)", False),
        ("c", "int f(void)", "int f()", True),
        ("ruby", "def f(a)", "def f(a, b = 1)", False),
        ("go", "func Do(low, high int)", "func Do(high, low int)", False),  # every call fits, and passes something else
        ("go", "func Do(a int, b int, c ...int)", "func Do(a int, x int, c ...int)", True),
        ("go", "func Do(_ int, _ int)", "func Do(a int, _ int)", True),
        ("typescript", "run(from: number, to: number): void", "run(to: number, from: number): void", False),
        ("typescript", "run(a?: number, b?: number)", "run(a?: number, c?: number, b?: number)", False),
        (
            "typescript",
            "constructor(private readonly a: string, public b: string)",
            "constructor(public b: string, private a: string)",
            False,
        ),
        ("typescript", "run({ a, b }: Options, c: Options)", "run({ a }: Options, c: Options)", True),
        ("cpp", "int f(int width, int height)", "int f(int height, int width)", False),
    ],
)
def test_declarations_of_other_languages(language: str, old: str, new: str, compatible: bool):
    assert is_compatible(language, int(SymbolKind.FUNCTION), old, new) is compatible


@pytest.mark.parametrize(
    ("language", "old", "new", "expected"),
    [
        ("go", "func (m *M) Save(key string) error", "func (s *M) Save(k string) (err error)", True),
        ("go", "func (m *M) Save(key string) error", "func (m *M) Save(key string, more ...int) error", False),
        ("go", "func (m *M) Save(key string) error", "func (m *M) Save(key string)", False),
        ("go", "func (m M) Save(key string) error", "func (m *M) Save(key string) error", False),
        ("typescript", "save(a: string, b: number): void", "save(a: string): void", True),
        ("typescript", "save(a: string): void", "save(a: string, b?: number): void", True),
        ("typescript", "save(a: string): void", "save(a: string, b: number): void", False),
        ("typescript", "save(a: string): void", "save(a: number): void", False),
        ("python", "def save(self, key)", "def save(self, key, more=1)", True),
        ("python", "def save(self, key)", "def save(self)", False),
        ("rust", "fn area(&self) -> i64", "fn area( &self ) -> i64", True),
        ("rust", "fn area(&self) -> i64", "fn area(&self) -> u64", False),
        ("ruby", "def f(a)", "def f(b)", True),
    ],
)
def test_what_an_interface_asks_for_is_not_what_callers_do(language: str, old: str, new: str, expected: bool):
    assert stands_in(language, old, new) is expected


def test_a_class_of_python_is_compatible_with_its_type_arguments_changed():
    kind = int(SymbolKind.CLASS)
    assert is_compatible("python", kind, "class A(Dict[str, int])", "class A(Dict[str, Any])")
    assert not is_compatible("python", kind, "class A(B)", "class A(C)")


# ---- rules

PLAIN = Facts(
    what="body", kind="function", exported=True, is_test=False, callers=0, packages=0, other_packages=0, sites=0,
    stale_sites=0, stale_tests=0, overrides=0, stale_overrides=0, tests=3, sync_guarded=False, commits=0, covered=True, other_folders=0,
)  # fmt: skip
USED = PLAIN._replace(callers=2, packages=1, sites=2)


@pytest.mark.parametrize(
    ("facts", "level", "first"),
    [
        (PLAIN, "low", "no_callers"),
        (PLAIN._replace(covered=False), "unknown", "no_callers"),
        (PLAIN._replace(tests=0), "medium", "no_callers"),
        (PLAIN._replace(tests=-1), "low", "no_callers"),
        (USED, "low", "same_package"),
        (USED._replace(other_packages=1), "medium", "other_package"),
        (USED._replace(packages=2, other_packages=1), "medium", "several_packages"),
        (USED._replace(packages=2, other_packages=1, tests=0), "high", "several_packages"),
        (USED._replace(what="docs"), "info", "docs_only"),
        (USED._replace(what="docs", covered=False), "info", "docs_only"),
        (USED._replace(what="removed", stale_sites=1), "critical", "removed_in_use"),
        (USED._replace(what="removed"), "high", "public_api_removed"),
        (USED._replace(what="removed", exported=False), "low", "same_package"),
        (USED._replace(what="signature", stale_sites=1), "high", "callers_not_updated"),
        (PLAIN._replace(what="removed", exported=False, stale_tests=1), "high", "removed_in_tests"),
        (PLAIN._replace(what="renamed", exported=False, stale_tests=2), "medium", "tests_not_updated"),
        (PLAIN._replace(what="removed", is_test=True, stale_tests=1), "medium", "removed_in_tests"),
        (USED._replace(what="signature", compatible=True), "low", "compatible"),
        (USED._replace(what="signature", compatible=True, covered=False), "unknown", "compatible"),
        (USED._replace(what="signature"), "medium", "public_api_changed"),
        (USED._replace(sync_guarded=True), "medium", "sync_guarded"),
        (USED._replace(commits=50), "medium", "same_package"),
        (USED._replace(is_test=True, what="removed"), "info", "test_code"),
        (USED._replace(is_test=True, what="removed", stale_sites=2), "medium", "removed_in_use"),
        (PLAIN._replace(what="added", covered=False), "low", "added"),
    ],
)
def test_the_table_of_risks(facts: Facts, level: str, first: str):
    verdict = judge(facts)
    assert (verdict.level, verdict.reasons[0][0]) == (level, first)
    assert all(text for _, text in verdict.reasons)


def test_what_is_not_fully_known_is_never_low():
    for what in ("removed", "renamed", "moved", "signature", "body"):
        for callers in (0, 2):
            facts = PLAIN._replace(what=what, callers=callers, packages=min(callers, 1), covered=False, compatible=what == "signature")
            assert judge(facts).level not in ("low", "info")


def test_codes_are_unique_and_levels_are_ordered():
    codes = [rule.code for rule in (*RULES, *RAISING)]
    assert len(set(codes)) == len(codes)
    assert worst(["low", "critical", "info"]) == "critical"
    assert worst([]) == "info"
    assert at_least("high", "medium")
    assert not at_least("low", "unknown")
    assert [at_least(level, level) for level in LEVELS] == [True] * len(LEVELS)


# ---- which tests to run


def reached(via: str, *scores: float, distance: int = 2, import_only: bool = False) -> list[AffectedTest]:
    return [
        AffectedTest(
            selector=f"{via} {number}", path="t.py", line=1, name="t", distance=distance, via=via, runner="pytest", import_only=import_only,
            score=score,
        )
        for number, score in enumerate(scores)
    ]  # fmt: skip


def likely(tests: list[AffectedTest]) -> list[str]:
    found = with_likely(tests)
    assert sorted(test.selector for test in found) == sorted(test.selector for test in tests)
    count = sum(test.likely for test in found)
    assert all(test.likely == (number < count) for number, test in enumerate(found))
    return [test.selector for test in found[:count]]


def test_the_likely_tests_hold_nearly_all_of_the_likelihood():
    tests = reached("a", *([1.0] * 60), *([0.0001] * 100))
    assert likely(tests) == [f"a {number}" for number in range(60)]


def test_a_symbol_that_much_reaches_takes_no_tests_from_another():
    loud, quiet = reached("a", *([1.0] * 60), 0.001), reached("b", *([0.002] * 60), 0.0000001)
    assert likely([*loud, *quiet]) == [*(f"a {number}" for number in range(60)), *(f"b {number}" for number in range(60))]


def test_few_tests_are_all_likely_and_what_only_an_import_leads_to_fills_up():
    few = [*reached("a", 1.0, 0.000001), *reached("b", *([0.5] * 100), import_only=True)]
    assert likely(few) == ["a 0", "a 1", *(f"b {number}" for number in range(LIKELY_AT_LEAST - 2))]


def test_a_changed_test_is_likely_whatever_it_scores():
    tests = [*reached("t", 0.0, distance=0), *reached("a", *([1.0] * 60)), *reached("c", 0.0, distance=0)]
    assert {"t 0", "c 0"} <= set(likely(tests))
    assert likely([]) == []


def test_a_text_that_takes_squares_of_it_is_compared_by_its_words(monkeypatch: pytest.MonkeyPatch):
    """A review of it took minutes."""
    monkeypatch.setattr(lexed, "_MOST_S", 0.5)
    monkeypatch.setattr(lexed, "_slow", set())
    text = ["a = 1  // x", *["/*"] * 100_000]
    assert code("go", text) == ("a", "=", "1", "//", "x", *["/*"] * 100_000)
