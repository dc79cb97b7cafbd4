"""Languages read by tree-sitter queries, and by a lexer: caret snapshots that a person can check, and what holds for any text."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import check_golden, snapshot

from indexer.model import Operation, Role, SymbolFlag, SymbolKind
from indexer.syntax import parse
from indexer.syntax.model import ASK, Span, Syntax
from indexer.text import for_grammars, utf16_to_index

CASES: dict[str, str] = {
    "typescript/imports_and_exports.ts": """
        import d, { a as b, type c } from "m";
        import * as ns from "./n";
        import r = require("z");
        export { u, v as w } from "k";
        export * as all from "x";
        const later = 1, hidden = 2;
        export { later };
        export default hidden;
        """,
    "typescript/members_of_namespaces.ts": """
        import * as ns from "./n";
        import { other } from "./n";
        ns.f(1); ns.f; ns.f; ns
          .f(2);
        let a: ns.T = new ns.T(), b: ns.T;
        let c: typeof ns.f;
        a instanceof ns.K; ns.K; ns.K;
        ns.x = 1; ns.x; ns.deep.x; ns.deep.x;
        other.f(); other.f();
        function g(ns: any) { ns.f(); ns.f(); }
        export class A extends ns.T { ns = 1; m() { return this.ns.f + this.ns.f; } }
        """,
    "typescript/classes.ts": """
        /**
         * A thing.
         * @param x its size
         */
        @Dec({ deep: 1 })
        export default class A<T extends B = C> extends X.Y<T> implements I, J.K<T> {
          #p = 1;
          static s: number;
          constructor(private x: number, y?: string) { super(); this.x = y; x; }
          get z(): T { return 1; }
          set z(v) { this.#p = v; }
          // Takes numbers.
          m(a: number): void;
          m(a: any) { a(); }
          @dec() field = (e) => e.x;
          private static async q() { const v = await q(); return v; }
        }
        abstract class B2 { abstract foo(): void; }
        """,
    "typescript/interfaces_and_types.ts": """
        export interface I extends J<number>, K.L { a?: string; m(x: number): void; o: { p: number }; [k: string]: V }
        interface I { more: 1 }
        enum E { A, B = A }
        declare namespace N.M { export function f(): void; const i: number }
        type T<K> = { [P in keyof K]: K[P]; m: string } & { q: 1 } | typeof a.b;
        type Both = z.infer<typeof Both>;
        const Both = z.object({ a: 1 });
        type Tuple = [first: A, ...rest: B[]];
        function over(a: number): asserts a is string;
        function over(a) { return a; }
        """,
    "typescript/variables.ts": """
        export const { a1, b1: c1, d1 = 2, ...e1 } = x, [f1, , ...g1] = y;
        [a1, b.c] = [1];
        ({ a1, b: c1 } = z);
        for (const k of ks) { k; }
        try {} catch ({ message }) { message; }
        export const o = { k: 1, m() {}, get g() { return 1; }, h: () => 2, sh } as const;
        let fe = function named() { named(); };
        const C = class Named { zz() {} };
        n++;
        n.m += 1;
        delete n.m;
        """,
    "typescript/locals.ts": """
        const f = async <T>(cb: (n: number) => T, { p1, p2: [p3] }, d = p1) => {
          let i = p1;
          i = 2;
          cb(i);
          function inner() { return p3; }
          inner();
          { let i = 3; i; }
          { var up = 1; }
          up;
          x(() => i, { i, j: i });
          class Local { m() { return i; } }
          new Local();
          hoisted();
          if (i) { function hoisted() {} hoisted(); }
        };
        """,
    "typescript/repaired.ts": """
        export interface Box<in out T, out U extends T> extends Base<T> { value: T }
        export const map: {
          // first
          <A>(f: A): <B>(b: B) => A
          /** second */
          <A>(f: A, g: A): A
        } = dual(2, f)
        """,
    "typescript/newer_than_the_grammar.ts": """
        export type * from "./types.js";
        export  type  * as all from "./more.js";
        export const of = (using: Using, tables: Table[]): Using => freeze({ ...using, tables: [...using.tables, ...tables] });
        export function close() { using file = open(); return sql<{ n: number }>`select 1`.as("o"); }
        """,
    "typescript/broken.ts": """
        class A { m( { }
        function ok() { return 1; }
        """,
    "typescript/types_only.d.ts": """
        declare function f(a: string): void;
        interface Window { name: string }
        declare const window: Window;
        """,
    "tsx/components.tsx": """
        export const App = ({ items }: Props) => (
          <Foo.Bar key={items} data-x="1">
            <div onClick={items} />
            <Baz<number> {...items}>t</Baz>
          </Foo.Bar>
        );
        """,
    "javascript/defaults_without_a_name.js": """
        export default async (config) => { return config; };
        export default function* () { run(); }
        export default class { method() {} }
        export default { data() { return 1; }, size: 2 };
        export default Object.freeze([1]);
        export default named;
        export default function other() {}
        module.exports = (x) => x;
        module.exports = class { quiet() {} };
        module.exports = class Loud extends Quiet { loud() {} };
        """,
    "typescript/defaults_without_a_name.ts": """
        export default (n: number): number => n;
        export default { data() { return 1; } } satisfies Options;
        export default abstract class Named {}
        """,
    "javascript/functions_that_are_given.js": """
        var app = exports = module.exports = {};
        app.render = function render(name) { return name ? app.other() : render(1); };
        app.other = app.same = () => app.render();
        View.prototype.draw = function draw() { draw(); };
        exports.own = function own() {};
        wrap(async function dispatch(config) { return dispatch(config); });
        new Promise(function* executor() { done(); });
        function make() { const thing = {}; thing.run = function () { done(); }; return function named() { done(); }; }
        """,
    "javascript/module_that_is_a_function.js": """
        module.exports = function session(options) { return session(inner()); function inner() {} };
        """,
    "javascript/commonjs.js": """
        const fs = require('fs'), { join } = require("path");
        exports.foo = function (a) { return a; };
        module.exports.bar = () => fs;
        function A() {}
        A.prototype.late = function () { return this; };
        Unknown.prototype.later = function () {};
        module.exports = { A, x: join };
        """,
    "javascript/classes.mjs": """
        export class A extends B.C {
          #x = 1;
          static y;
          z = () => this.#x;
          constructor(a, { b }, [c], d = 1, ...e) { super(a + b + c + d + e); }
          async *m() {}
        }
        var x;
        function x() {}
        x = 2;
        with (o) { x; }
        """,
    "go/types.go": """
        // Package p does.
        package p

        import (
          "fmt"
          x "net/http"
        )

        // Router routes.
        type Router struct {
          sync.Mutex
          *Base
          Name, Other string `json:"a"`
          in struct{ q int }
        }

        type (
          // A is a number.
          A = int
          B[T any, U ~int | A] interface {
            io.Reader
            M(a int) (n int, err error)
          }
          F func(a int) B
        )

        const (
          C1 Kind = iota
          c2
        )

        var v1, v2 = 1, f(2)
        """,
    "go/methods.go": """
        package p

        func (r *Router) Handle(path string, h ...http.Handler) (n *Route, err error) {
          a, err := r.x.y(path)
          return a, err
        }

        func (e Elsewhere[K]) Get() K { return e.k }

        type Router struct{ x int }

        func Gen[T any](a T) T { return Gen[T](a) }
        """,
    "go/locals.go": """
        package p

        func f(ch chan int, v any) {
          x := 1
          x, y := x+1, x
          for i := 0; i < y; i++ {
            x := x
            x++
          }
          for k, v := range m {
            use(k, v)
          }
          if b, ok := m[x]; ok {
            b += 1
          }
          switch t := v.(type) {
          case *Foo:
            t.x()
          }
          select {
          case m := <-ch:
            m()
          }
          g := func(a int) int { return a }
          go g(x)
          z := Foo{A: x, b: 2}
          z.A, _ = 3, y
        }
        """,
    "c/header.h": """
        #define MAX 10
        #define SQ(x) ((x)*(x))
        struct fwd;
        /* A node. */
        typedef struct node { int v, *w; struct node *next; union { int a; }; struct { int q; } in; } node_t, *node_p;
        typedef struct { int x; } anon_t;
        typedef int (*cmp_fn)(const void *a, const void *b);
        enum color { RED, GREEN = 2 };
        enum { A1, A2 };
        extern int ext_var;
        // Finds one.
        struct node *find(struct node *n, int (*cb)(int code));
        static inline int twice(int a) { return a + a; }
        """,
    "c/source.c": """
        static int s1 = 1, *s2, arr[MAX];
        int proto(int a, char *b);
        int proto(int a, char *b) { return a; }
        int *locals(int a, int n)
        {
          int i, j = a;
          struct node *p = &glob, q = { .v = 1 };
          for (int k = 0; k < n; k++) { int a = k; j += a; p->v = j; }
          again: if (a) goto again;
          LIST_FOR(j, p->next) other(i);
          (*fp)(a);
          int (*fp2)(int) = proto;
          return fp2(j);
        }
        """,
    "cpp/classes.hpp": """
        namespace a::b {
        class Fwd;
        // A box.
        template <typename T, int N = 3> class Box final : public Base<T>, private ns::Other {
         public:
          explicit Box(int x) : x_(x), y_{first(x)} {}
          virtual ~Box();
          virtual void pure() const = 0;
          void decl(int a, T b = T());
          bool operator==(const Box& o) const;
          template <typename U> void tm(U u);
          friend void pal(int);
          using Alias = std::vector<T>;
          enum class E : int { One };
          static int s_;
          int x_, *y_ = nullptr;
          struct Inner { int z; };
          Box(const Box&) = delete;
        };
        void over(int);
        void over(double) {}
        void over(char) {}
        }
        """,
    "cpp/members.cc": """
        class DB { void Put(); static int count; };
        void DB::Put() {}
        int DB::count = 0;
        Status Elsewhere::Get(const Slice& key) { return key; }
        leveldb::Cache::~Cache() {}
        namespace ns { void f(); }
        void ns::f() {}
        TEST(Suite, Case) { run(); }
        """,
    "cpp/locals.cc": """
        int f(int a, int b) {
          auto [p, q] = pair(a);
          auto l = [&, a, z = 1](int w) -> int { return w + z + b; };
          for (auto& e : a) e = b;
          if (auto it = b; it) use(it);
          try { g(); } catch (const Ex& ex) { ex.what(); }
          Foo foo(a);
          foo.run();
          Foo* nf = new Foo(1);
          struct S { int m() { return b; } };
          return static_cast<int>(p) + ns::func(q) + MACRO(b);
        }
        """,
    "rust/items.rs": """
        use std::{fmt::{self, Display}, collections::HashMap as Map, io::*};
        /// A point.
        #[derive(Debug)]
        pub struct Point<T: Clone> where T: Copy { pub x: T, y: i32 }
        pub(crate) struct Tup(pub u8);
        pub enum Shape { Circle(f64), Rect { w: u32 } }
        pub trait Draw: Display + fmt::Debug { const N: usize; fn draw(&self) -> u8; fn dflt(&self, n: u8) -> u8 { n } }
        impl<T> Point<T> { pub fn new(x: T) -> Self { Point { x, y: 1 } } async fn x(&self) {} }
        impl<T> Draw for Point<T> { fn draw(&self) -> u8 { 1 } }
        impl Other for Point<u8> { fn draw(&self) -> u8 { 2 } }
        impl other::Ext for Foreign { fn ext(&self) {} }
        mod inner { pub fn f() {} }
        macro_rules! mac { ($x:expr) => { $x + 1 }; }
        static mut S: u8 = 2;
        """,
    "rust/locals.rs": """
        fn f<'a>(v: &'a u8, opt: Option<u8>) -> u8 {
          let mut i = 0;
          let i = i + 1;
          let n = 1;
          if let Some(n) = opt { n } else { n };
          for k in k { use_it(k, &n) }
          match v { Shape::Circle(r) => r, CONST => 1, other if other > v => 2, _ => 3 };
          let c = |a: u8, b| a + b;
          c(1, 2);
          println!("{}", v);
          s.field = v;
          fn nested(z: u8) -> u8 { v + z }
          nested(v)
        }
        """,
    "bash/script.sh": """
        #!/bin/bash
        # Does foo.
        foo() { local x=1 y; echo "$x ${y:-z} $1"; bar "$x"; }
        function bar { export P=$PATH; x=2; }
        NAME=val; arr=(a b); arr[1]=c
        for f in *.txt; do cmd -x $f; done
        ./run.sh; $cmd a; foo | bar; y=$(foo a); unset NAME; (( i++ ))
        """,
    "php/Shape.php": """
        <?php
        declare(strict_types=1);
        namespace Acme\\Shapes;
        use Acme\\Contracts\\{Area as HasArea, Named};
        use function Acme\\format;
        /** A shape. */
        #[Attribute]
        abstract class Shape extends Base implements HasArea, \\Countable {
          use Counts, Logs { Counts::log insteadof Logs; log as protected logged; }
          public const SIDES = 0, CORNERS = self::SIDES;
          protected static int $made = 0;
          private ?string $label = null, $other;
          public function __construct(protected string $name, private int $size = self::SIDES, ...$rest) {
            self::$made++; $this->label = $name; $this->items[] = parent::go(); new static($size);
          }
          abstract function area(): float;
          private function hidden() { return $this?->name instanceof Shape; }
        }
        interface Drawn { const A = 1; public function d(); }
        trait Counts { abstract function boot(); public static function st() {} }
        enum Suit: string { case Hearts = 'H'; const Wild = self::Hearts; }
        class Hooked { public string $v { get => strtoupper($this->v); set(string $x) { $this->v = $x; } } }
        define('OLD', 1);
        const TOP = 5;
        function make(Shape|Drawn|null $s, &$out, self $z = new Shape(name: 'x')): ?Suit { return $s; }
        """,
    "php/locals.php": """
        <p><?= $title ?></p>
        <?php
        function locals(array $items, $out) {
          global $config; static $calls = 0;
          $f = function (int $x) use ($items, &$out) { return $x + $items + $free; };
          $g = static fn(int $z) => $z * $items;
          $f(1); ($g)(2); $name = 'x'; $$name = 1; $this->$name(); new $name(); $class::make(); strlen(...); $o->go(...);
          [$a, ['k' => $b, $o->p]] = list($c, , $d) = $items;
          foreach ($items as $key => &$value) { echo "$key: {$value->title} $value->name ${a} {$b['x']}"; }
          try { $b .= 'x'; unset($items[0], $c); } catch (A | \\B $e) { throw $e; }
          if (preg_match('/x/', $d, $matches)) { return $matches; }
          helper($later); $later = 1; goto end; end:
          return new class($a) extends Base implements I { public function go() { return __CLASS__; } } ?: new class {};
          $t = <<<EOT
            {$o->name()} and $items[0] $o->y
            EOT;
          return compact('a') + isset($a) + Base::class + A::B + namespace\\other() + match (true) { default => $t };
        }
        $top = locals([], $top);
        """,
    "java/Foo.java": """
        package com.a.b;
        import java.util.List;
        import static java.lang.Math.max;
        import java.io.*;
        /** A foo. */
        @Deprecated @Ann(value = X.Y)
        public abstract class Foo<T extends Comparable<T>> extends Base<T> implements I, a.b.J<T> {
          private static final int MAX = 10;
          protected int a, b[] = {1};
          public Foo(int a) { super(a); this.a = a; }
          @Override public int size(String s) { return max(s, a); }
          int size() { return new ArrayList<T>().size(); }
          int size;
          interface Nested { int m(); }
          enum Color { RED(1) { void x() {} }; Color(int c) {} }
          record Rec(int p) { int sum() { return p; } }
        }
        """,
    "java/Locals.java": """
        class Locals {
          void f(String s, int... rest) {
            int i = 0, j = i;
            i++;
            field = 3;
            for (String q : xs) { use(q); }
            try (Reader r = open(s)) { r.read(); } catch (IOException e) { log(e); }
            Function<A, B> g = (x, y) -> x.foo(y, j);
            xs.forEach(z -> z.bar(Foo::make));
            new Foo() { void anonymous() { use(i, s); } };
            if (o instanceof Foo fo) { fo.run(); }
          }
        }
        """,
    "lexer/module.lua": """
        local function area(width)
          return math.floor(width * 2) -- not a name
        end
        print(area(1), "text")
        """,
}

LANGUAGES = {"tsx": "typescript", "lexer": "lua"}
SAMPLES = sorted({name.split("/")[0] for name in CASES} - {"lexer"})


def _source(text: str) -> bytes:
    return textwrap.dedent(text).lstrip("\n").encode()


def _parse(name: str, source: bytes, *, definitions_only: bool = False) -> Syntax:
    folder = name.split("/")[0]
    return parse(LANGUAGES.get(folder, folder), name, source, "m", definitions_only=definitions_only)


def _rest(syntax: Syntax) -> str:
    """What `snapshot` leaves out."""
    tokens = syntax.tokens
    lines: list[str] = []
    for symbol, token in syntax.members:
        lines.append(f"member {syntax.symbols[symbol].name} at {tokens.line[token] + 1}:{tokens.col[token] + 1}")
    for symbol, token in syntax.owners:
        qualifier = " ".join(syntax.symbols[symbol].qualifier)
        lines.append(f"owner of {syntax.symbols[symbol].name} is {qualifier} at {tokens.line[token] + 1}:{tokens.col[token] + 1}")
    return "".join(f"{line}\n" for line in lines)


def _within(inner: Span, outer: Span) -> bool:
    return (outer.line, outer.col) <= (inner.line, inner.col) and (inner.end_line, inner.end_col) <= (outer.end_line, outer.end_col)


def _check_invariants(syntax: Syntax, source: bytes) -> None:
    tokens, symbols = syntax.tokens, syntax.symbols
    count = len(tokens)
    assert {len(getattr(tokens, column)) for column in tokens.__slots__} == {count}
    places = list(zip(tokens.line, tokens.col, strict=True))
    assert places == sorted(set(places))
    lines = for_grammars(source).decode("utf-8", "replace").split("\n")
    for line, col, end_col, name in zip(tokens.line, tokens.col, tokens.end_col, tokens.name, strict=True):
        assert col < end_col
        if "\ufffd" not in lines[line]:
            text = lines[line][utf16_to_index(lines[line], col) : utf16_to_index(lines[line], end_col)]
            assert text == name or text.strip('"`').rsplit("/", 1)[-1] == name  # Go's imports name packages in quotes
    assert symbols[0].container == -1
    for ordinal, symbol in enumerate(symbols[1:], 1):
        assert 0 <= symbol.container < ordinal
        assert symbol.name
        assert len(symbol.signature) <= 300
        assert any(_within(symbol.selection, span) for span in (symbol.span, *symbol.extra_ranges))
    for index in range(count):
        symbol = tokens.symbol[index]
        assert ASK <= symbol < len(symbols)
        assert 0 <= tokens.enclosing[index] < len(symbols)
        same = tokens.same_as[index]
        assert tokens.ask[index] or symbol >= 0 or (same >= 0 and tokens.ask[same])
        assert tokens.callee_as[index] in (-1, index)
        assert tokens.callee_as[index] < 0 or (tokens.ask[index] and tokens.roles[index] & Role.CALL)
    for pairs in (syntax.bases, syntax.members, syntax.owners):
        assert pairs == sorted(set(pairs))
        assert all(0 < symbol < len(symbols) and 0 <= token < count for symbol, token in pairs)
    for symbol, token in syntax.members:
        assert tokens.symbol[token] == ASK
        assert symbols[symbol].name == tokens.name[token]
    assert all(0 <= token < count for token, _ in syntax.imports)
    assert syntax.discovers


@pytest.mark.parametrize("name", CASES)
def test_snapshots(name: str) -> None:
    """Each case in the form that a person can check."""
    source = _source(CASES[name])
    syntax = _parse(name, source)
    _check_invariants(syntax, source)
    check_golden(f"syntax/{name}.txt", snapshot(source, syntax) + _rest(syntax))


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("lexer/")])
def test_definitions_only_gives_the_same_symbols(name: str) -> None:
    """What is left out are uses: symbols and the tokens that define them stay."""
    source = _source(CASES[name])
    full, short = _parse(name, source), _parse(name, source, definitions_only=True)
    assert short.symbols == full.symbols
    defining = [index for index, roles in enumerate(full.tokens.roles) if roles & Role.DEFINITION]
    places = [(full.tokens.line[index], full.tokens.col[index], full.tokens.symbol[index]) for index in defining]
    mine = short.tokens
    found = [(mine.line[index], mine.col[index], mine.symbol[index]) for index in range(len(mine)) if mine.roles[index] & Role.DEFINITION]
    assert found == places


# ---- positions


# Bash, and what the lexer reads, have no comments within a line.
@pytest.mark.parametrize("name", [name for name in CASES if "broken" not in name and not name.startswith(("bash/", "lexer/"))])
def test_columns_after_an_emoji_are_utf16(name: str) -> None:
    """A comment of wide characters in front of a line moves its tokens by UTF-16 units, and changes nothing else."""
    source = _source(CASES[name])
    wide = "/*é😀*/"
    shift = len(wide) + 1
    lines = source.decode().split("\n")
    at = next(number for number, line in enumerate(lines) if line and line[0].isalpha() and "//" not in line)
    lines[at] = wide + lines[at]
    plain, moved = _parse(name, source), _parse(name, "\n".join(lines).encode())
    _check_invariants(moved, "\n".join(lines).encode())
    assert moved.tokens.name == plain.tokens.name
    assert moved.tokens.line == plain.tokens.line
    for index, line in enumerate(plain.tokens.line):
        assert moved.tokens.col[index] == plain.tokens.col[index] + (shift if line == at else 0)


def test_wide_identifiers_and_a_byte_order_mark() -> None:
    """Names may be wide themselves; the mark is a column of its own, as in the text that a server gets."""
    source = "\ufeffconst 变量 = '😀', b = 变量;\n".encode()
    tokens = _parse("typescript/a.ts", source).tokens
    assert tokens.name == ["变量", "b", "变量"]
    assert tokens.col == [7, 18, 22]


def test_bash_reads_any_character() -> None:
    """The grammar's own scanner reads beyond a table for most of them, which may end the process."""
    source = "\ufeffa=1 # 😀\nshow {\U000f93e6 ${a}é $a; ünlaut\n".encode()
    syntax = _parse("bash/a.sh", source)
    _check_invariants(syntax, source)
    assert syntax.tokens.name == ["a", "show", "a", "a"]
    assert syntax.tokens.col == [1, 0, 11, 16]


def test_bash_variables_that_programs_get_are_exported() -> None:
    source = b"export where=1\ndeclare -rx mode=fast\nquiet=1 make\nplain=2\nCFLAGS=-O2\nlate=3\nexport late\nf() { local inner=1; }\n"
    symbols = _parse("bash/a.sh", source).symbols
    exported = {symbol.name for symbol in symbols if SymbolFlag.EXPORTED in symbol.flags}
    assert exported - {symbols[0].name} == {"where", "mode", "quiet", "CFLAGS", "late", "f"}
    assert {"plain", "inner"} <= {symbol.name for symbol in symbols}


# ---- rules that deserve words


def test_a_prototype_and_its_body_are_one_symbol() -> None:
    """The body is the definition; without one, the prototype is, unless the server knows better."""
    both = _parse("c/a.c", b"int f(void);\nint f(void) { return 1; }\n")
    assert [(symbol.name, symbol.span.line, len(symbol.extra_ranges)) for symbol in both.symbols[1:]] == [("f", 1, 1)]
    assert (both.tokens.symbol, both.members) == ([1, 1], [])
    alone = _parse("c/a.c", b"int f(void);\n")
    assert (alone.tokens.symbol, alone.tokens.ask, alone.members) == ([ASK], [True], [(1, 0)])
    assert alone.tokens.roles == [int(Role.DEFINITION)]


def test_a_type_below_its_methods_still_holds_them() -> None:
    """Go writes methods beside their type: the type comes first in the outline, wherever it stands."""
    syntax = _parse("go/a.go", b"package p\nfunc (t T) M() {}\ntype T struct{}\n")
    assert [(symbol.name, symbol.container) for symbol in syntax.symbols] == [("m", -1), ("T", 0), ("M", 1), ("t", 2)]
    assert syntax.owners == []


@pytest.mark.parametrize(
    ("language", "path", "text", "exported"),
    [
        ("typescript", "a.ts", "export const a = 1; const b = 2; export { c }; function c() {}", ["a", "c"]),
        ("typescript", "a.ts", "export class A { x; private y; #z }", ["A", "x"]),
        ("typescript", "a.d.ts", "declare const a: 1; interface B { c: 1 }", ["a", "B", "c"]),
        ("go", "a.go", "package p\nvar A, b int\ntype C struct { D, e int }", ["A", "C", "D"]),
        ("rust", "a.rs", "pub fn a() {} fn b() {} pub(crate) fn c() {}", ["a"]),
        ("java", "A.java", "public class A { public int b; int c; interface D { int e(); } }", ["A", "b"]),
        ("c", "a.h", "int a(void); static int b(void) { return 1; }", ["a"]),
        ("c", "a.c", "int a(void) { return 1; }", []),
    ],
)
def test_what_is_exported(language: str, path: str, text: str, exported: list[str]) -> None:
    """By each language's own rule."""
    syntax = parse(language, path, text.encode(), "m")
    assert [symbol.name for symbol in syntax.symbols[1:] if SymbolFlag.EXPORTED in symbol.flags] == exported


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("go/a.go", "package p\nfunc f(x int) { { y := x; x := y; _ = x }; func() { _ = x }() }\n"),
        ("typescript/a.ts", "function f(x) { { use(x); let x; } }"),
        ("c/a.c", "int f(int x) { { use[x]; int x; } return x; }"),
        ("rust/a.rs", "fn f(x: u8) { { use_(x); let x = 1; } }"),
        ("java/A.java", "class A { void f(int x) { new B() { int g() { return x; } }; } }"),
    ],
)
def test_a_settled_use_means_the_nearest_binding(name: str, text: str) -> None:
    """A use above a second declaration of its name, or in a class that may inherit it, is the outer one or is asked; never wrong."""
    syntax = _parse(name, text.encode())
    tokens, symbols = syntax.tokens, syntax.symbols
    for index in range(len(tokens)):
        if tokens.name[index] == "x" and tokens.symbol[index] >= 0 and not tokens.roles[index] & Role.DEFINITION:
            at = symbols[tokens.symbol[index]].selection
            before = [
                other for other in range(index) if tokens.name[other] == "x" and tokens.roles[other] & Role.DEFINITION
            ]  # fmt: skip
            assert name.startswith("typescript/") or (at.line, at.col) in {(tokens.line[other], tokens.col[other]) for other in before}


def test_a_call_of_a_local_variable_is_asked_for_its_callee() -> None:
    """The variable is certain, what it holds is not; a local function is both."""
    tokens = _parse("typescript/a.ts", b"function f(cb) { cb(); function g() {} g(); }").tokens
    calls = [index for index, roles in enumerate(tokens.roles) if roles & Role.CALL]
    assert [(tokens.name[index], tokens.symbol[index] >= 0, tokens.ask[index], tokens.callee_as[index] == index) for index in calls] == [
        ("cb", True, True, True),
        ("g", True, False, False),
    ]


def test_a_language_without_a_grammar_is_read_by_its_lexer() -> None:
    """Identifiers and calls only; a language that nobody knows has no tokens."""
    known = parse("lua", "a.lua", b"local x = f(y)\n", "m")
    assert (known.tokens.name, [symbol.kind for symbol in known.symbols]) == (["x", "f", "y"], [SymbolKind.MODULE])
    assert known.discovers
    unknown = parse("no such language", "a.unknown", b"local x = f(y)\n", "m")
    assert (len(unknown.tokens), unknown.line_count) == (0, 1)
    assert len(parse("lua", "a.lua", b"f(y)\n", "m", definitions_only=True).tokens) == 0


def test_python_has_its_own_adapter() -> None:
    """The dispatch knows it."""
    assert [symbol.name for symbol in parse("python", "a.py", b"def f(): pass\n", "a").symbols] == ["a", "f"]


def test_importing_the_package_loads_no_grammar() -> None:
    """A worker loads what its language needs."""
    code = "import sys, indexer.syntax; print([name for name in sys.modules if 'tree_sitter' in name or 'pygments' in name])"
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- robustness

_DEEP = 10_000


def test_what_the_grammar_of_typescript_does_not_know_is_no_gap() -> None:
    """Each of the three made every answer about the files of a whole library partial."""
    assert _parse("typescript/a.ts", _NEWER).error_lines == []
    assert _parse("typescript/a.ts", b"export type { from 'x';\n").error_lines


_NEWER = b"""export type * from "./types.js";
export const of = (using: Using): Using => freeze({ ...using, tables: using.tables });
export function close() { using file = open(); return sql<{ n: number }>`select 1`.as("o"); }
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("typescript/a.ts", b"x = " + b"(" * _DEEP + b"a" + b")" * _DEEP),
        ("typescript/a.ts", b"f(" * _DEEP),
        ("typescript/a.ts", b"a" + b".b" * _DEEP),
        ("typescript/a.ts", b"x=>" * _DEEP + b"x"),
        ("typescript/a.ts", b"type A = " + b"A<" * _DEEP),
        ("typescript/a.ts", b"class A { m() { " * (_DEEP // 5)),
        ("javascript/a.jsx", b"<a>" * _DEEP),
        ("go/a.go", b"package p\nfunc f() " + b"{" * _DEEP),
        ("go/a.go", b"package p\ntype T " + b"struct{a " * _DEEP + b"}" * _DEEP),
        ("c/a.c", b"int " + b"(" * _DEEP + b"a" + b")" * _DEEP + b";"),
        ("cpp/a.cc", b"namespace a {" * _DEEP),
        ("rust/a.rs", b"fn f() {" * _DEEP + b"}" * _DEEP),
        ("bash/a.sh", b"f() { " * _DEEP),
        ("java/A.java", b"class A {" * _DEEP),
    ],
    ids=lambda value: value if isinstance(value, str) else value[:12].decode(),
)
def test_deep_nesting_ends_no_process(name: str, source: bytes) -> None:
    """Nothing recurses along the depth of the source."""
    assert _parse(name, source).symbols


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("typescript/a.ts", b"let x = a" + b".b()" * 30_000 + b";"),
        ("typescript/b.ts", b"let x = " + b"[" * 30_000 + b"a.b" + b"]" * 30_000 + b";"),
        ("go/a.go", b"package p\ntype T " + b"struct { a " * 30_000 + b"int" + b"}" * 30_000),
    ],
    ids=["chain", "brackets", "structs"],
)
def test_text_that_is_too_deep_to_be_read_is_a_gap(name: str, source: bytes) -> None:
    """It was passed over, and the file looked as if it had been read."""
    assert _parse(name, source).error_lines


def test_a_text_of_ordinary_depth_is_no_gap() -> None:
    source = b"let x = " + b"[" * 300 + b"a.b" + b"]" * 300 + b";\n" + b"f(a, b.c);\n" * 20_000
    assert _parse("typescript/a.ts", source).error_lines == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("typescript/a.ts", ("'" + "é😀" * 100 + "'+é;").encode() * 8_000),
        ("c/a.c", b"x" * 5_000_000),
        ("typescript/b.ts", b"/*" * 2_500_000),
    ],
    ids=["statements", "one_name", "open_comments"],
)
def test_a_line_of_five_megabytes_ends(name: str, source: bytes) -> None:
    """Columns cost the same wherever they stand in a line."""
    tokens = _parse(name, source).tokens
    assert set(tokens.line) <= {0}


_SHREDS = [
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    ";",
    ",",
    ".",
    "::",
    "=",
    ":=",
    "=>",
    '"',
    "'",
    "`",
    "/*",
    "*/",
    "//",
    "\n",
    "\r\n",
    "😀",
]
_WORDS = ["a", "class", "struct", "func", "fn", "impl", "export", "const", "let", "x", "enum", "namespace", "interface", "type", "#define"]


@st.composite
def _mutations(draw: st.DrawFn) -> tuple[str, bytes]:
    """A case with pieces cut out, doubled and strewn in."""
    name = draw(st.sampled_from([name for name in CASES if not name.startswith("lexer/")]))
    text = textwrap.dedent(CASES[name])
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        what = draw(st.sampled_from([*_SHREDS, *_WORDS, "", text[start:end] * 2]))
        text = text[:start] + what + text[end:]
    return name, text.encode()


@pytest.mark.parametrize(
    ("text", "callers"),
    [
        ("const make = () => () => a();", ["make"]),
        ("const two = (x) => (y) => { a(); };", ["two"]),
        ("const o = { f: () => () => a() };", ["f"]),
        ("class A { g = () => () => a(); }", ["g"]),
        ("export default () => () => a();", ["default"]),
        ("a(() => () => a());", ["m", "m"]),
    ],
)
def test_what_a_function_calls_that_another_one_gives_back_at_once_is_of_the_outer_one(text: str, callers: list[str]) -> None:
    made = parse("javascript", "m.js", f"function a() {{}}\n{text}\n".encode(), "m")
    tokens = made.tokens
    calls = [number for number, roles in enumerate(tokens.roles) if roles & Role.CALL and tokens.name[number] == "a"]
    assert [made.symbols[tokens.enclosing[number]].name for number in calls] == callers


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(_mutations())
def test_any_text_parses(mutation: tuple[str, bytes]) -> None:
    """Broken text gives a syntax with its invariants, never an exception."""
    name, source = mutation
    _check_invariants(_parse(name, source), source)
    _parse(name, source, definitions_only=True)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*SAMPLES, "lexer"]), st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_parse(folder: str, source: bytes) -> None:
    """Even what is no text at all."""
    assert _parse(f"{folder}/a.{'tsx' if folder == 'tsx' else 'x'}", source.replace(b"\0", b" ")).symbols


def test_what_a_macro_makes_is_in_its_text_and_what_it_is_given_is_called_there() -> None:
    """Else a function that a macro calls, or runs for whom it is given, would be nobody's, and the macro's callees complete."""
    source = (
        "macro_rules! runs { ($f:ident) => { $f() }; () => { hidden(1) } }\n"
        "fn g() { macro_rules! inner { ($o:expr) => { $o.run() } } inner!(x) }\n"
    )
    read = parse("rust", "a.rs", source.encode(), "a")
    tokens, called = read.tokens, read.receivers
    around = {tokens.name[token]: read.symbols[tokens.enclosing[token]].name for token in range(len(tokens))}
    assert {name: around[name] for name in ("hidden", "run", "x")} == {"hidden": "runs", "run": "inner", "x": "g"}
    assert [(read.symbols[called.enclosing[row]].name, Operation(called.operation[row])) for row in range(len(called.line))] == [
        ("runs", Operation.CALL)
    ]


def test_a_macro_of_rust_that_is_named_as_a_type_is_one() -> None:
    """`str![["…"]]` of snapshots: to the grammar `str` is a type, and each use was an error."""
    text = 'fn f() {\n  g(str![[r#"a "b" c"#]]).h();\n  let s: &str = x;\n  let t = str::from_utf8(s);\n}\nfn i() {}\n'
    found = parse("rust", "a.rs", text.encode(), "a")
    assert found.error_lines == []
    assert [symbol.name for symbol in found.symbols[1:]] == ["f", "s", "t", "i"]
    assert (1, 4, "str") in set(zip(found.tokens.line, found.tokens.col, found.tokens.name, strict=True))


def test_reserved_words_name_attributes_and_elements_of_jsx() -> None:
    """`<div class="a">` of Preact and Solid was an error in JavaScript, of which whole files were made; TypeScript's grammar has it."""
    text = """
export const App = ({ items, isOpen }) => (
  <div class="app" for={items} data-x="class = 'a'">
    <items.default class={isOpen ? "a" : "b"} class:list={items} on:delete={run} use:with={run} />
    <track kind="captions" default />
    <var title="in">{isOpen && <switch in={run} />}</var>
    <this.Part new={make()} default={<b class="x">y</b>}></this.Part>
  </div>
);
function other() { return run(isLess < this.size); }
"""
    script, typed = parse("javascript", "a.jsx", text.encode(), "a"), parse("typescript", "a.tsx", text.encode(), "a")
    assert script.error_lines == typed.error_lines == []
    assert [symbol.name for symbol in script.symbols] == ["a", "App", "items", "isOpen", "other"]
    rows = [list(zip(read.tokens.line, read.tokens.col, read.tokens.name, read.tokens.roles, strict=True)) for read in (script, typed)]
    assert rows[0] == rows[1]
    assert (9, 44, "size") in {row[:3] for row in rows[0]}


def test_in_a_shell_the_names_between_two_definitions_share_one_question():
    text = (
        'echo "$a"\na=1\necho "$a"\nif x; then echo "$a"; fi\na=2\necho "$a"\nf() { local a; echo "$a"; g; g; }\necho "$a"; f; f\n'
        "h() { f; }\nk() { f; }\n"
    )
    tokens = parse("bash", "s.sh", text.encode(), "s").tokens
    asked = [(tokens.line[at], tokens.name[at]) for at in range(len(tokens)) if tokens.ask[at] and tokens.name[at] in "afg"]
    assert asked == [(0, "a"), (3, "a"), (5, "a"), (6, "a"), (6, "g"), (7, "a"), (7, "f"), (9, "f")]
    shared = {(tokens.line[at], tokens.name[at]): tokens.line[tokens.same_as[at]] for at in range(len(tokens)) if tokens.same_as[at] >= 0}
    assert shared == {(2, "a"): 3, (6, "g"): 6, (7, "f"): 7, (8, "f"): 9}
