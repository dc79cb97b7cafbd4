"""Python's syntax adapter: caret snapshots that a person can check, and a comparison with CPython's own symbol table."""

from __future__ import annotations

import ast
import sysconfig
import textwrap
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from python_scopes import disagreements
from support import check_golden, snapshot

from indexer.model import Role, SymbolFlag, SymbolKind
from indexer.syntax.model import ASK, BUILTIN, Syntax
from indexer.syntax.python import parse
from indexer.syntax.python.comments import without_long_comments
from indexer.syntax.python.nodes import PARSER
from indexer.syntax.python.walk import Walk

CASES: dict[str, str | bytes] = {
    "closure": """
        def outer(a):
            b = a
            def inner():
                return a + b + c
            c = 1
            return inner
        """,
    "global": """
        count = 0
        def bump():
            global count, made
            count += 1
            made = count
        def read():
            return made
        """,
    "global_declared_after_use_in_another_function": """
        def read():
            return later
        def write():
            global later
            later = 1
        """,
    "nonlocal": """
        def outer():
            n = 0
            def inner():
                nonlocal n
                n += 1
                return n
            return inner
        """,
    "nonlocal_above_the_first_assignment": """
        def outer():
            def inner():
                nonlocal n
                n = 1
            n = 0
            inner()
            return n
        """,
    "class_scope_is_not_visible_in_methods": """
        size = 1
        class Box:
            size = 2
            double = size * 2
            def method(self):
                return size
        """,
    "class_body_reads_the_outer_name_until_its_own": """
        name = 1
        class Box:
            before = name
            name = 2
            after = name
        """,
    "class_body_reads_the_outer_name_in_the_statement_that_binds_its_own": """
        name, day, many, other = 1, int, [2], 3
        def make(): ...
        class Base: ...
        class Box:
            name = name
            day: day
            other: int = other
            for many in many: ...
            def make(self, made=make()) -> Base: ...
            class Base(Base): ...
            after = name, many, other, make, Base
        """,
    "comprehension_variables": """
        x = 1
        a = [x for x in range(3) if x]
        b = {k: v for k, v in a}
        c = (y for row in a for y in row)
        d = x
        """,
    "comprehension_in_a_class_body": """
        class Box:
            items = [1]
            first = [item for item in items]
            wrong = [items for _ in range(3)]
        """,
    "walrus_leaks_out_of_a_comprehension": """
        def f(data):
            found = [last := item for item in data]
            return last
        if (n := len("a")) > 0:
            print(n)
        """,
    "lambda_parameters": """
        key = 1
        f = lambda key, *rest, other=key: key(rest, other)
        """,
    "defaults_annotations_and_decorators_are_outside": """
        def deco(x): return x
        x = 1
        T = int
        @deco
        @deco(x)
        def f(x: T = x, *args: T, y=x, **kw) -> T:
            return x, y, args, kw
        """,
    "except_as_and_with_as": """
        def f(path):
            try:
                with open(path) as file, file as (a, b):
                    return file, a, b
            except (OSError, ValueError) as error:
                raise RuntimeError(error) from error
            else:
                return error
        """,
    "for_else": """
        for i, (j, *k) in []:
            print(i, j, k)
        else:
            print(i)
        async def f(xs):
            async for x in xs:
                await x
            async with x as y:
                return y
        """,
    "match_captures": """
        class Point:
            x: int
        import colors
        RED = 1
        def f(value):
            match value:
                case Point(x=0, y=why): return why
                case Point(a, b) if a: return a, b
                case [first, *rest]: return first, rest
                case {"k": v, **others}: return v, others
                case colors.RED | RED.real: return value
                case (1 | 2) as number: return number
                case str() as text: return text
                case -1 | None | "s": return 0
                case _: return _
        """,
    "delete": """
        x = 1
        del x
        class A: pass
        a = A()
        del a.b, a[x]
        def f(p):
            del p
        """,
    "star_import_makes_free_names_ask": """
        from os.path import *
        join("a", "b")
        len([])
        def f():
            return join
        """,
    "import_twice_is_asked_at_each_use": """
        try:
            import fast as impl
        except ImportError:
            impl = None
        try:
            from a import thing
        except ImportError:
            from b import thing
        impl.go()
        thing()
        """,
    "imports": """
        import os
        import os.path
        import a.b.c
        import a.b as ab
        from . import sibling
        from .pkg.mod import name as other, plain
        from __future__ import annotations
        os.path.join(os.getcwd())
        a.b.c.f()
        ab.g()
        sibling.h(other, plain)
        def f():
            import json
            return json.dumps(json)
        """,
    "type_parameters": """
        type Pair[T] = tuple[T, T]
        type Plain = Pair[int]
        class Box[T: int, *Ts, **P]:
            item: T
            def get[U](self, other: U) -> T | U:
                kept: U = other
                return kept
        def first[T](xs: list[T]) -> T:
            return xs[0]
        """,
    "type_is_still_a_name": """
        class A:
            def f(self, type=None):
                return type
        a = A()
        type(a).x = a
        type (a).y[0] = 2
        kind = type(a)
        """,
    "async_functions": """
        async def f():
            await g()
            return [x async for x in h()]
        async def g(): pass
        def h(): pass
        """,
    "overloads_are_one_symbol": """
        from typing import overload
        @overload
        def f(x: int) -> int: ...
        @overload
        def f(x: str) -> str: ...
        def f(x):
            '''Implemented here.'''
            return x
        f(1)
        """,
    "property_and_setter_are_one_symbol": """
        from functools import cached_property
        class A:
            @property
            def p(self):
                '''Docs.'''
                return self._p
            @p.setter
            def p(self, value):
                self._p = value
            @cached_property
            def q(self):
                return self.p
            @staticmethod
            def s(x): return x
            @classmethod
            def c(cls): return cls.s(cls)
        """,
    "conditional_definitions_are_one_symbol": """
        import sys
        if sys.platform == "win32":
            def f(): return 1
        else:
            def f(): return 2
        f()
        """,
    "a_class_replaces_an_assignment": """
        A = None
        try:
            from a import B
        except ImportError:
            class B: pass
        class A:
            def m(self): pass
        A().m()
        B()
        """,
    "redefinition": """
        def f(): return 1
        f = f
        f()
        class f: pass
        """,
    "self_attributes_become_fields": """
        class A:
            declared = 0
            def __init__(self, x):
                self.x = x
                self.declared = x
                self.y, self.z[0] = x, x
                self.x.deep = 1
            def method(this):
                this.late = 1
                def inner():
                    this.later = 2
                    return this.x
                return inner
            def other(self):
                self = self.x
                return self.x + self.late
            @staticmethod
            def s(self):
                self.no = 1
        """,
    "cls_attributes": """
        class A:
            @classmethod
            def make(cls):
                cls.registry = {}
                return cls.registry
        """,
    "nested_classes": """
        class A:
            class B:
                x = 1
                def f(self):
                    return A.B.x
            b = B()
        A.B().f()
        """,
    "string_annotations": """
        import typing as t
        class A:
            def f(self, other: "A") -> "t.List[A]":
                x: "B | None" = None
                return [other]
        class B: pass
        y: t.Literal["B"] = "B"
        z: "not an annotation("
        v: t.Annotated["A", "B"]
        w: t.Union[t.Literal["A", "B"], "t.Literal['B']", list["B"]]
        T = t.TypeVar("T", bound="A")
        N = t.NewType("N", "B")
        t.cast("A", y).f(memoryview(b"").cast("B"), "A")
        """,
    "string_annotations_in_values": """
        import typing as t
        class A: pass
        class B(dict): pass
        Pair = t.Union["A", t.Literal["A"], None]
        Made = t.Callable[["A"], t.Optional["t.List[B]"]]
        t.cast(dict[str, "A"], t.ForwardRef("B"))
        class C(t.List["B | A"]): pass
        B()["A"], {"A": 1}["A"], Pair["A"], ["A"]["B".find("A")]
        """,
    "f_strings": """
        name = 1
        def f(x):
            return f"{name!r:>{x}} {x.y} {{no}} {[i for i in x]}"
        """,
    "all_is_a_mention_and_exports": """
        __all__ = ["f", "missing"]
        __all__ += ["late"]
        def f(): pass
        def hidden(): pass
        class late:
            def m(self): pass
            def _m(self): pass
        """,
    "exported_flags_without_all": """
        def f(): pass
        def _f(): pass
        class _C:
            def m(self): pass
        X = 1
        _Y = 2
        """,
    "all_by_method_calls": """
        import sub
        __all__ = ["a"] + sub.__all__
        __all__.extend(["b"])
        __all__.append("c")
        def a(): pass
        def b(): pass
        def c(): pass
        def d(): pass
        """,
    "arguments_and_keywords": """
        def f(callback, key=None): pass
        def g(): pass
        f(g, key=g)
        f(*g, **g)
        class Meta(type): pass
        class A(object, metaclass=Meta): pass
        print(g, sep="")
        """,
    "supertypes": """
        import abc
        from typing import Generic, TypeVar, Protocol
        T = TypeVar("T")
        class Base(abc.ABC, Generic[T]): pass
        class Child(Base[int]): pass
        class P(Protocol): pass
        def make(): return Base
        class Dynamic(make()): pass
        """,
    "enum_members": """
        from enum import Enum
        class Color(Enum):
            RED = 1
            green = 2
            def f(self): return self.RED
        """,
    "attribute_chains_share_answers": """
        import a
        a.b.c
        a.b.c
        a.b.c.d.e
        def f(x):
            x.y
            x.y
        class C: pass
        C.z
        C.z
        """,
    "calls_of_variables_are_asked": """
        def f(): pass
        g = f
        g()
        f()
        def h(callback):
            callback()
        """,
    "builtins_may_be_shadowed": """
        len([])
        def f(list):
            return list(len)
        class A:
            def print(self):
                print(self)
        print(__name__, __file__)
        """,
    "non_ascii_columns": """
        größe = "😀"; x = größe; y = "😀" + x
        def f(ä: "größe"): return f"😀{ä}", ä
        def g(ä="😀", *, b: "x | größe"): return b
        """,
    "identifiers_are_normalized": """
        ﬁle = 1
        file
        """,
    "crlf": b"import os\r\n\r\ndef f(x):\r\n    '''Doc\r\n    more.'''\r\n    return os.path\r\n",
    "byte_order_mark": b"\xef\xbb\xbfx = 1\ny = x\n",
    "tabs": b"def f(x):\n\tif x:\n\t\treturn\tx\n",
    "broken_function": """
        def good(): return 1
        def bad(:
            return good(
        def after(): return good()
        after()
        """,
    "unfinished_line": "x = 1\ny = x.",
    "empty_file": b"",
    "only_a_comment": b"# nothing\n",
    "python_2_print": b"import sys\nname = 1\nprint name\nprint >> sys.stderr, name\nexec name\n",
    "decorated_class_and_docstrings": """
        '''Module.

        More.
        '''
        import functools
        @functools.total_ordering
        class A:
            r'''Class docs.'''
            x = 1
            '''Not a docstring of A.'''
        """,
    "no_trailing_newline": b"def f():\n    return f",
    "line_continuation": b"x = 1\ny = \\\n  x\n",
    "annotated_names": """
        x: int
        y: "int" = 1
        class A:
            z: int
            w: int = 2
            def f(self):
                self.v: int = 3
                local: int
                (unbound): int
                return unbound
        """,
    "augmented_targets": """
        a = [1]
        a[0] += 1
        a += [2]
        class C:
            n = 0
            def f(self):
                self.n += 1
        """,
    "dunder_new_and_init": """
        class A:
            def __new__(cls): return object.__new__(cls)
            def __init__(self): super().__init__()
            def __call__(self): return __class__
        """,
    "positional_only_and_star_parameters": """
        def f(a, b=1, /, c=2, *, d, e=3): return a, b, c, d, e
        def g(*args, **kwargs): return args, kwargs
        f(1, 2, d=4)
        """,
    "try_star_and_raise": """
        try: pass
        except* ValueError as group:
            raise group
        finally:
            group
        """,
}
TEST_FILE_CASES = {
    "fixtures": """
        import pytest
        @pytest.fixture
        def client(app): return app
        @pytest.fixture()
        def app(): yield 1
        def test_it(client, tmp_path, n=1):
            client
        class TestAll:
            def test_more(self, client): client.get()
        def helper(client): return client
        """,
}


def _source(case: str | bytes) -> bytes:
    return case if isinstance(case, bytes) else textwrap.dedent(case).lstrip("\n").encode()


def _check_invariants(syntax: Syntax) -> None:
    tokens = syntax.tokens
    places = list(zip(tokens.line, tokens.col, strict=True))
    assert places == sorted(places)
    assert len(set(places)) == len(places), "one token per place"
    for index in range(len(tokens)):
        symbol, same, ask = tokens.symbol[index], tokens.same_as[index], tokens.ask[index]
        where = f"{tokens.name[index]} at {tokens.line[index] + 1}:{tokens.col[index] + 1}"
        assert ASK >= symbol >= BUILTIN or 0 <= symbol < len(syntax.symbols), where
        if symbol >= 0:
            assert same < 0, where
            assert ask == (tokens.callee_as[index] == index or bool(tokens.roles[index] & Role.FIXTURE)), where
        elif symbol == BUILTIN:
            assert same < 0, where
            assert not ask, where
        elif tokens.callee_as[index] == index:
            assert ask, f"{where}: its callee is to be asked"
        else:
            assert ask != (same >= 0), f"{where}: neither or both of asked and shared"
        callee = tokens.callee_as[index]
        assert callee < 0 or (tokens.roles[index] & Role.CALL and tokens.ask[callee] and tokens.callee_as[callee] == callee), where
        if same >= 0:
            assert same != index, where
            assert tokens.same_as[same] < 0, where
            assert tokens.ask[same] or tokens.symbol[same] >= 0, where
        assert tokens.up[index] == 0 or same >= 0, where
        assert 0 <= tokens.enclosing[index] < len(syntax.symbols), where
        assert tokens.end_col[index] > tokens.col[index], where
        assert tokens.roles[index], where
    assert syntax.symbols[0].kind == SymbolKind.MODULE
    assert syntax.symbols[0].container == -1
    for ordinal, symbol in enumerate(syntax.symbols[1:], 1):
        assert 0 <= symbol.container < ordinal, symbol.name
        assert (symbol.span.line, symbol.span.col) <= (symbol.selection.line, symbol.selection.col), symbol.name
        assert (symbol.selection.end_line, symbol.selection.end_col) <= (symbol.span.end_line, symbol.span.end_col), symbol.name
        assert symbol.span.end_line <= max(syntax.line_count, 1), symbol.name
    for owner, token in syntax.bases:
        classes = (SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM)  # a `def` of the same name above it may be one with it
        assert syntax.symbols[owner].kind in classes or SymbolFlag.CONDITIONAL in syntax.symbols[owner].flags
        assert tokens.roles[token] & Role.SUPERTYPE


@pytest.mark.parametrize("name", CASES)
def test_names_resolve_as_python_scopes_say(name: str) -> None:
    """Each small source gives the caret snapshot that was checked by eye."""
    source = _source(CASES[name])
    syntax = parse(source, "m")
    _check_invariants(syntax)
    check_golden(f"syntax/{name}.txt", snapshot(source, syntax))


@pytest.mark.parametrize("name", TEST_FILE_CASES)
def test_parameters_of_tests_are_asked_in_test_files(name: str) -> None:
    """A fixture's name stands as a parameter, so it is asked although the parameter itself is certain."""
    source = _source(TEST_FILE_CASES[name])
    syntax = parse(source, "m", is_test=True)
    _check_invariants(syntax)
    check_golden(f"syntax/{name}.txt", snapshot(source, syntax))


@pytest.mark.parametrize("name", CASES)
def test_cases_agree_with_cpythons_symbol_table(name: str) -> None:
    """Where a case is valid for the running interpreter, CPython's own scopes say the same."""
    source = _source(CASES[name])
    try:
        ast.parse(source.decode("utf-8-sig"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(source, "m", "exec", dont_inherit=True)
    except SyntaxError:
        return
    if b"\r" not in source:
        assert disagreements(source) == []


# ---- robustness


@pytest.mark.parametrize(
    "source",
    [
        b"x = " + b"(" * 10_000 + b")" * 10_000 + b"\n",
        b"x = " + b"[" * 10_000 + b"\n",
        b"x" + b".a" * 3_000 + b"\n",
        b"import m\nm" + b".a" * 3_000 + b"()\n",
        b"x = " + b" + ".join([b"y"] * 5_000) + b"\n",
        b"def f(x=" * 300 + b"\n",
        b"".join(b" " * i + b"if x:\n" for i in range(90)) + b" " * 90 + b"pass\n",
        b"f(" * 2_000 + b")" * 2_000 + b"\n",
        b"lambda: " * 1_000 + b"x\n",
        b"x: '" + b"a[" * 2_000 + b"]" * 2_000 + b"'\n",
    ],
    ids=["brackets", "unclosed", "attributes", "imported_attributes", "sum", "unclosed_defs", "ifs", "calls", "lambdas", "annotation"],
)
def test_deep_nesting_ends_no_process(source: bytes) -> None:
    """Nothing recurses along the depth of the source."""
    _check_invariants(parse(source, "m"))


_WORDS = ["\n    ", "import ", "from ", "def ", "class ", "lambda ", "for ", " in ", "as ", "del ", "a", "b", "match "]
_SHREDS = st.lists(
    st.sampled_from([*"()[]{}:,.*=@\n'\"", *_WORDS]),
    max_size=25,
).map(lambda parts: "".join(parts).encode())


@settings(max_examples=200, deadline=None)
@given(_SHREDS | st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
@example(b"import ,")
@example(b"from . import ,")
def test_any_bytes_parse(source: bytes) -> None:
    """Garbage gives a syntax with its invariants, never an exception."""
    _check_invariants(parse(source, "m"))


def _stdlib_files() -> list[Path]:
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))
    kept = [
        file
        for file in files
        if not {"site-packages", "dist-packages", "bad_coding", "lib2to3"} & set(file.parts) and 0 < file.stat().st_size < 60_000
    ]
    return kept[:: max(1, len(kept) // 150)]


def _truncations(source: bytes) -> list[bytes]:
    """Broken variants of a file: cut in the middle, one line removed."""
    lines = source.splitlines(keepends=True)
    return [source[: len(source) * 2 // 3], b"".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :])]


# tree-sitter loses track of a bracket whose content is indented less than its own line; `del x` of a name that only locals() bound.
_BEYOND_US = ("test_compile.py", "test_scope.py")


def test_the_standard_library_agrees_with_cpythons_symbol_table() -> None:
    """In a sample of real files every bare name is bound where CPython binds it, and every token in exactly one way."""
    compared = 0
    problems: list[str] = []
    for file in _stdlib_files():
        source = file.read_bytes()
        _check_invariants(parse(source, "m"))
        try:
            source.decode("utf-8-sig")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(source, "m", "exec", dont_inherit=True)
                if b"\r" in source or file.name in _BEYOND_US:
                    continue
                found = disagreements(source)
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        compared += 1
        problems += [f"{file.name}:{item}" for item in found]
    assert problems == []
    assert compared > 100


def test_broken_files_keep_their_invariants() -> None:
    """A file cut in the middle is data too."""
    for file in _stdlib_files()[::5]:
        for broken in _truncations(file.read_bytes()):
            _check_invariants(parse(broken, "m"))


# ---- random programs against CPython

_NAMES = st.sampled_from(["a", "b", "c", "len"])


@st.composite
def _expressions(draw: st.DrawFn, depth: int = 2) -> str:
    name = draw(_NAMES)
    if depth == 0:
        return name
    inner = _expressions(depth - 1)
    match draw(st.integers(0, 8)):
        case 0:
            return f"[{draw(inner)} for {name} in {draw(inner)} if {draw(inner)}]"
        case 1:
            return f"(lambda {name}={draw(inner)}: {draw(inner)})"
        case 2:
            return f"{draw(inner)}({draw(inner)}, k={draw(inner)})"
        case 3:
            return f"{{{name}: {draw(_NAMES)} for {name}, {draw(_NAMES)} in {draw(inner)} for {draw(_NAMES)} in {draw(inner)}}}"
        case 4:
            return f"f'{{{draw(_NAMES)}!r:>{{{draw(_NAMES)}}}}}'"
        case 5:
            return f"{draw(inner)}.{name}"
        case 6:
            return f"({draw(inner)} if {draw(inner)} else {draw(inner)})"
        case _:
            return name


@st.composite
def _blocks(draw: st.DrawFn, depth: int, place: str) -> list[str]:
    """Lines of a block; `place` is module, class or function (where `nonlocal` may stand)."""
    lines: list[str] = []
    if place != "module" and draw(st.integers(0, 3)) == 0:
        lines.append(f"global {draw(_NAMES)}")
    for _ in range(draw(st.integers(1, 4))):
        name, value = draw(_NAMES), draw(_expressions())
        other = draw(_NAMES)
        kind = draw(st.integers(0, 15 if depth else 11))

        def nested(header: str, where: str = place) -> list[str]:
            return [header, *(f"    {line}" for line in draw(_blocks(depth - 1, where)))]

        match kind:
            case 0 | 1:
                lines.append(f"{name} = {value}")
            case 2:
                lines.append(f"{name} += {value}")
            case 3:
                lines.append(f"({name}, *{other}.x) = {value}")
            case 4:
                lines.append(f"import {name}")
            case 5:
                lines.append(f"from {other} import {name}")
            case 6:
                lines.append(f"{name}: {other}")
            case 7:
                lines += [f"{name} = {value}", f"del {name}"]
            case 8:
                lines.append(f"import {other}.x as {name}")
            case 9 | 10 | 11:
                lines.append(value)
            case 12:
                free = [f"    nonlocal {draw(_NAMES)}"] if place == "function" and draw(st.booleans()) else []
                header, *body = nested(f"def {name}({other}x={value}, *c): # {{}}".split(" #")[0], "function")
                lines += [f"@{other}", header, *free, *body] if draw(st.booleans()) else [header, *free, *body]
            case 13:
                lines += nested(f"class {name}({value}):", "class")
            case 14:
                lines += nested(f"for {name} in {value}:")
            case _:
                lines += nested(f"with {value} as ({name}, {other}):")
    return lines


@settings(max_examples=60, deadline=None)
@given(_blocks(3, "module"))
@example(["def b():", "    a = a", "    def c():", "        global a", "        b = a"])  # of the module, which does not bind it
@example(["def b():", "    def a():", "        global a", "        b = a"])
def test_random_programs_agree_with_cpythons_symbol_table(lines: list[str]) -> None:
    """Whatever CPython compiles, it and we bind every bare name in the same scope."""
    source = ("\n".join(lines) + "\n").encode()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "m", "exec", dont_inherit=True)
    except SyntaxError:
        _check_invariants(parse(source, "m"))
        return
    _check_invariants(parse(source, "m"))
    assert disagreements(source) == [], source.decode()


def test_a_dotted_name_of_ten_thousand_parts_costs_memory_in_proportion() -> None:
    """All beginnings of it, as they were kept, took its square: 40 kB of text 2 GB."""
    walk = Walk(b"import " + b".".join([b"a"] * 10_000) + b"\n", "m", False)
    assert len(walk.run(definitions_only=False).tokens) == 10_000
    assert sum(map(len, walk.module_paths)) < 10_000


def test_a_docstring_stands_below_a_licence_of_any_length():
    source = b"".join(b"# line %d of a licence\n" % number for number in range(12)) + b'"""What it is."""\n\nimport os\n'
    assert parse(source, "a").symbols[0].documentation == "What it is."
    assert parse(b"# x\nimport os\n'no docstring'\n", "a").symbols[0].documentation == ""


# ---- long comments


def _nodes(source: bytes) -> list[tuple[str, tuple[int, int], tuple[int, int]]]:
    """All of the tree but the comments, in the order of the text."""
    found: list[tuple[str, tuple[int, int], tuple[int, int]]] = []
    waiting = [PARSER.parse(source).root_node]
    while waiting:
        node = waiting.pop()
        if node.type != "comment":
            found.append((node.type, (node.start_point.row, node.start_point.column), (node.end_point.row, node.end_point.column)))
            waiting += reversed(node.children)
    return found


_STATEMENTS = (
    *("x = 1", "def f():", "class A:", "if x:", "return", "pass", "y = (", ")", "'''", "z = 2  # why"),
    *("# c", "# d", "# e", "# f", ""),
)


@settings(max_examples=400)
@given(st.lists(st.tuples(st.sampled_from([0, 4, 8]), st.sampled_from(_STATEMENTS)), max_size=40))
@example([(0, "def f():"), (4, "x = 1"), (4, "# a"), (4, "# b"), (0, "# c"), (4, "# d"), (4, "y = 2")])
@example([(0, "def f():"), (4, "x = 1"), (4, "# a"), (4, "# b"), (0, "# c"), (4, "# d")])
@example([(0, "class A:"), (4, "def f():"), (8, "x = 1"), (8, "# a"), (4, "# b"), (8, "# c"), (0, "# d"), (4, "# e")])
def test_a_text_with_blank_comments_has_the_same_tree(lines: list[tuple[int, str]]) -> None:
    source = "".join(f"{' ' * indent}{line}\n" for indent, line in lines).encode()
    made = without_long_comments(source, 3)
    assert [len(line) for line in made.split(b"\n")] == [len(line) for line in source.split(b"\n")]
    if not PARSER.parse(source).root_node.has_error:
        assert _nodes(made) == _nodes(source)


def test_a_run_of_comments_is_two_for_the_grammar_and_a_string_is_none() -> None:
    inside = b"".join(b"# %d\n" % number for number in range(300))
    source = b"def f():\n    x = 1\n" + inside.replace(b"#", b"    #") + b"    return x\n\n\ntext = '''\n" + inside + b"'''\n"
    made = without_long_comments(source)
    assert made.count(b"#") == 2 + 300
    assert made.endswith(inside + b"'''\n")
    whole, short = parse(source, "m"), parse(source.replace(inside.replace(b"#", b"    #"), b"    #\n"), "m")
    assert [symbol.name for symbol in whole.symbols] == [symbol.name for symbol in short.symbols]


def test_comments_of_a_text_that_python_cannot_read_are_long_as_well() -> None:
    source = b"x = '''\n" + b"# no end\n" * 500
    assert without_long_comments(source).count(b"#") == 2
    assert without_long_comments(b"x = 1\n" + b"# few\n" * 100) == b"x = 1\n" + b"# few\n" * 100


@pytest.mark.parametrize("line", [b"\\\n", b"  \\\r\n"])
@pytest.mark.parametrize(
    "around", [(b"y = 1 + ", b"x\n"), (b"y = (x,\n", b"x)\n"), (b"y = '''\n", b"'''\n"), (b"", b"y = x\n"), (b"y = x; ", b"")]
)
def test_lines_that_only_go_on_are_two_for_the_grammar_and_all_else_keeps_its_place(line: bytes, around: tuple[bytes, bytes]) -> None:
    """40,000 of them took 14 s, and four times that for twice as many."""
    before, behind = around
    source = b"def f(): pass\n" + before + b"\\\n" + line * 40_000 + behind + "def é(): return f()\n".encode() + line * 300
    begun = time.process_time()
    found = parse(source, "m")
    assert time.process_time() - begun < 5.0
    short = parse(source.replace(line * 40_000, line * 2).replace(line * 300, line * 2), "m")
    assert [symbol.name for symbol in found.symbols] == [symbol.name for symbol in short.symbols]
    assert found.tokens.name == short.tokens.name
    lines = [name_line + (39_998 if name_line > 1 else 0) for name_line in short.tokens.line]
    assert found.tokens.line == lines
    assert found.tokens.col == short.tokens.col


def test_a_list_of_many_operators_is_read_in_time_in_proportion_to_it() -> None:
    """Each looked at the values of all before it: twelve seconds for 1,000, and eight times that for twice as many."""
    begun = time.process_time()
    few, many = (parse(b"def f(a, b):\n    return " + b"a and b or " * times + b"a\n", "m").receivers for times in (3, 1_000))
    assert time.process_time() - begun < 5.0
    assert len(few) == 8
    assert len(many) == 2_999


@pytest.mark.parametrize("step", ["y.z or y.z and ", "y or y and "])
def test_operators_in_turn_cost_what_their_number_says(step: str) -> None:
    """A grammar nests them, and looks for the parent of a node from the root on: 15 s and 5 s before, less than one now."""
    begun = time.process_time()
    found = parse(f"x = {step * 8_000}1\n".encode(), "m")
    assert time.process_time() - begun < 3.0
    assert len(found.receivers) >= 16_000
