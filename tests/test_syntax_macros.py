"""C and C++ with words of the preprocessor, which a grammar takes for types and names: what is declared is what the compiler sees."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from support import Watcher, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.model import Role
from indexer.store.lint import lint
from indexer.syntax import code_of
from indexer.syntax.tree import parse
from indexer.syntax.tree.macros import prepare
from query import api
from query.facts.index import Index, open_index

CPP: dict[str, tuple[str, list[str]]] = {
    "a class": (
        "class API Printer : public Visitor {\n public:\n  ~Printer();\n  void Push();\n};",
        ["Printer", "Printer.Push", "Printer.~Printer"],
    ),
    "a class, of a name in lower case": ("class shop_api Item final {\n  int size();\n};", ["Item", "Item.size"]),
    "a class, behind an attribute": ("struct alignas(8) [[nodiscard]] API Item { int size(); };", ["Item", "Item.size"]),
    "a class, with brackets": ('class VISIBLE("default") Item { int size(); };', ["Item", "Item.size"]),
    "a class that is empty": ("class API Item {};", ["Item"]),
    "an enum": (
        'enum class API Color : int { red, green DEPRECATED("x"), blue OLD = 3 };',
        ["Color", "Color.blue", "Color.green", "Color.red"],
    ),
    "a template": ("template <typename T, ENABLE_IF(is<T>::value)>\nclass API Box { T get() NOEXCEPT; };", ["Box", "Box.get"]),
    "a function": (
        "API int first();\nAPI Status second(int a);\nint API third();\nAPI std::string fourth();",
        ["first", "fourth", "second", "third"],
    ),
    "an attribute with numbers": (
        "static void printflike(2, 3)\nreply(T *c, const char *fmt, ...) { f(); }\nvoid printflike(1, 2) log(const char *fmt, ...);\n"
        "T *alloc_size(1) take(int n);\nT aligned(8) give(void);\n"
        "PURE READS(1, 3) READS(2, 3)\nchar *join(char *a, const char *b, int n);\nPURE READS(1, 2)\nstruct s *find(int a, int b);",
        ["find", "give", "join", "log", "reply", "take"],
    ),
    "a type that a macro makes": (
        "static RB_HEAD(tree, job) jobs = RB_INIT();\nstatic TAILQ_HEAD(, window) all;\nLIST_HEAD(list, job) some[2];\nMAKE(a)\nint own;",
        ["all", "jobs", "own", "some"],
    ),
    "what is given to a macro and is no expression": (
        "int f(A a) {\n  if (compare(a, b, <)) return NEXT(a, , b);\n  return timed(a, >) + first(, c) + none();\n}",
        ["f"],
    ),
    "texts that macros stand between": (
        'const char *all = NAMED(1) " " NAMED(2) " " NAMED("x", "y");\n#define SIZE (7 /* at most */)\nint own;',
        ["SIZE", "all", "own"],
    ),
    "members that a macro makes": (
        "enum keys {\n  FIRST = 1,\n  KEYS(MOVE),\n  KEYS(DRAG),\n  LAST\n};",
        ["keys", "keys.FIRST", "keys.LAST"],
    ),
    "a function behind its parameters": ("int f(int a) NOEXCEPT;\nstruct A {\n  int g() LOCKED(mu) { return h(); }\n};", ["A", "A.g", "f"]),
    "a constructor": (
        "struct A {\n  INLINE A(int a) : a_(a) {}\n  INLINE ~A() {}\n  INLINE operator bool() const;\n  int a_;\n};",
        ["A", "A.A", "A.a_", "A.operator bool", "A.~A"],
    ),
    "a constructor of another scope": ("INLINE A::A(int a) : a_(a) {\n  f();\n}\nINLINE int A::g() NOEXCEPT { return 1; }", ["A", "g"]),
    "a variable": (
        "struct A {\n  int total GUARDED_BY(mu);\n  port::CondVar cv GUARDED_BY(mu) = x;\n  static int names[2] NAMES;\n};",
        ["A", "A.cv", "A.names", "A.total"],
    ),
    "a line of its own": (
        "BEGIN_NAMESPACE\nclass Forward;\nclass A {\n  Q_OBJECT\n  Q_PROPERTY(int a READ a WRITE setA)\n"
        " public:\n  DISABLE_COPY(A)\n  int f();\n};\nEND_NAMESPACE",
        ["A", "A.f", "Forward"],
    ),
    "a section": ("class A {\n public slots:\n  void f();\n signals:\n  void g();\n};", ["A", "A.f", "A.g"]),
    "a linkage": ('#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif', ["f"]),
    "a macro that this file defines": ("#define api\nclass api A;\napi B make(int a);", ["A", "api", "make"]),
    "a pointer to a function": (
        "typedef int (CALL *taker)(int a);\nvoid (A::*member)(int);\ntypedef API void (*giver)(int a);\n"
        "typedef API READS(2, 3) void (*reader)(int a);",
        ["giver", "member", "reader", "taker"],
    ),
    "a call that begins a loop": ("void f() {\n  FOREACH(x, y) {\n    g();\n  }\n  foreach (T a, b)\n    h();\n}", ["f"]),
    "a test with texts": ('TEST_CASE("a", "[b]") {\n  f();\n}', ['TEST_CASE("a", "[b]")']),
    "attributes of system headers": (
        "extern int first (const char *__s)\n     __THROW __attribute_pure__ __nonnull ((1, 2));\n"
        "extern int second (int __c) __THROW __attribute_const__;\nextern char *third (char *__s) __wur;",
        ["first", "second", "third"],
    ),
    "a name in brackets": (
        "API void (first) (State *L);\nAPI State *(second) (Alloc f, void *ud);\nAPI Function (third) (State *L, Function f);\n"
        "API int (fourth) (State *L) {\n  return (first)(L);\n}",
        ["first", "fourth", "second", "third"],
    ),
    "a call of a signal": ("void f() {\n  emit changed(1);\n  connect(a, SIGNAL(moved(int, bool)));\n}", ["f"]),
}
"""A text, and the names of all that it declares beside variables of functions; it has no error."""

C: dict[str, tuple[str, list[str]]] = {
    "a macro around the head of a function": (
        "API(int first(struct s *a));\nAPI(void second(void));\nAPI(int first(struct s *a)) {\n  return g(a);\n}\n"
        "UNUSED(static const char *third(int n)) { return h(n); }\nCHECK(sizeof(int) == 4);\nint own(void) { return MAX(f(1), g(2)); }",
        ["first", "own", "second", "third"],
    ),
    "a comment within a macro of several lines": (
        '#ifndef A\n#define EACH(a) \\\n  do { \\\n    f(a); \\\n    /* why, and\n       how */ \\\n    g(a, "/*"); \\\n  } while (0)\n'
        "TEST(suite) {\n  EACH(1);\n}\n#endif\n#define MAKE(name) \\\n  /* both */ \\\n  int name##_a(void) { return 1; }\n"
        "int own(void) { return 1; }",
        ["EACH", "MAKE", "own", "suite"],
    ),
    "fields in a macro, behind a comment": (
        "#define FIELDS \\\n  /* open */ \\\n  void *data; \\\n  /* rest */ \\\n  int count; \\\n  union { \\\n    /* one */ \\\n"
        "    int size; \\\n  } u; \\\n  OTHERS \\\n\nstruct holds {\n  FIELDS\n};\nint own(void);",
        ["FIELDS", "count", "holds", "own", "u", "u.size"],
    ),
    "constants that a macro makes of a list": (
        "typedef enum {\n#define XX(a, b) K_##a = b,\n  LIST(XX)\n#undef XX\n  LAST = 9\n} kinds;\n"
        "enum more {\n  NONE,\n#define XX(a, b) L_##a,\n  LIST(XX)\n#undef XX\n  OWN,\n  TAIL\n};",
        ["kinds", "kinds.LAST", "more", "more.NONE", "more.OWN", "more.TAIL"],
    ),
    "old parameters": ("int f(a, b)\n  int a;\n  char *b;\n{\n  return g(a);\n}\nint h(void) { return 1; }", ["f", "h"]),
    "a convention": (
        "extern int ZEXPORT f(void *a);\nlocal int g(void) { return 1; }\nconst char * ZEXPORT h(z_streamp FAR * s);",
        ["f", "g", "h"],
    ),
    "an attribute in a branch": ("int f(int a)\n#ifdef __GNUC__\n  __attribute__((pure))\n#endif\n;\nint g(void);", ["f", "g"]),
    "attributes of system headers": (
        "extern int first (const char *__s)\n     __THROW __attribute_pure__ __nonnull ((1, 2));\n"
        "extern int second (int __c) __THROW __attribute_const__;\nextern char *third (char *__s) __wur;",
        ["first", "second", "third"],
    ),
    "a name in brackets": (
        "API void (first) (State *L);\nAPI State *(second) (Alloc f, void *ud);\nAPI Function (third) (State *L, Function f);\n"
        "API int (fourth) (State *L) {\n  return (first)(L);\n}",
        ["first", "fourth", "second", "third"],
    ),
    "words of C++": ("int class(int template, int namespace) {\n  return template;\n}", ["class"]),
    "a cast": ("int f(void *a) {\n  return g((struct state FAR *)a, (const T FAR *)a);\n}", ["f"]),
    "texts": ('int f(void) {\n  return g("%" PRIu64 " of", 1);\n}', ["f"]),
}

UNCHANGED = [
    "struct stat info{};\nstruct Point p{1, 2};",
    "enum Color c{red};",
    "int a = b * c + FOO(d);\nFOO x;\nBAR y(1);",
    "BOOL f(int a) { return FALSE; }",
    "int (*f)(int a);\nT (x)(1);\nvoid g() { (h)(a); A b = (c)(d); }",
    "T *make(const Foo &a, Bar b) { return new T(a, b); }",
    "void f() {\n  if (A) B(c);\n  else D(e);\n  return F(g);\n  a < b, c > (d);\n}",
    "struct A { B operator->*(int a); };",
    "int f(a, b) int a; char *b; { return a; }",
    "template <typename T, int N> T A<T, N>::f() const noexcept { return x; }",
    "struct A { A(); ~A(); A &operator=(const A &) = delete; int f() const override; FOO g(); };",
    "A::A() : a(1), b{2} {}\nA::~A() = default;",
    'extern "C" int f(void);\nnamespace a::b { int c; }',
    "auto f = [](int a) -> int { return a; };",
    "std::function<void(int)> f;\nsizeof(int);",
    "friend class A;\nusing B = C<D>;\ntypedef unsigned long E;",
    "#define FOO(x) int x;\nint y;",
    "void f() { g(offsetof(A<B>, c) % 2, offsetof(D, e)); }",
    'auto s = R"(class API Item { int a; };)";  // class API Item { int a; };',
]


def declared(language: str, text: str) -> tuple[list[str], Any]:
    found = parse(language, f"a.{language}", text.encode(), "a")
    names: list[str] = []
    for symbol in found.symbols[1:]:
        around = found.symbols[symbol.container]
        if symbol.kind.name in ("VARIABLE", "TYPE_PARAMETER") and around.kind.name in ("FUNCTION", "METHOD", "CONSTRUCTOR", "CLASS"):
            continue
        names.append(f"{around.name}.{symbol.name}" if symbol.container else symbol.name)
    return sorted(set(names)), found


@pytest.mark.parametrize(
    ("language", "what"), [*(("cpp", what) for what in CPP), *(("c", what) for what in C)], ids=lambda value: value.replace(" ", "_")
)
def test_what_is_declared_beside_a_macro_is_read(language: str, what: str) -> None:
    text, expected = (CPP if language == "cpp" else C)[what]
    names, found = declared(language, text)
    assert names == expected
    assert found.error_lines == []


@pytest.mark.parametrize(
    ("language", "what"), [*(("cpp", what) for what in CPP), *(("c", what) for what in C)], ids=lambda value: value.replace(" ", "_")
)
def test_a_macro_is_an_identifier_at_its_place(language: str, what: str) -> None:
    """A server is asked for it, so who refers to it is known; and each identifier is there once."""
    text, _ = (CPP if language == "cpp" else C)[what]
    tokens = parse(language, f"a.{language}", text.encode(), "a").tokens
    places = list(zip(tokens.line, tokens.col, strict=True))
    assert len(places) == len(set(places))
    lines = text.split("\n")
    for name, line, col in zip(tokens.name, tokens.line, tokens.col, strict=True):
        assert lines[line][col:].startswith(name)
    code = re.sub(r'"[^"\n]*"', "", text)
    wanted = set(re.findall(r"\b[A-Z][A-Z_]{2,}\b|\b(?:api|local|emit|shop_api|slots|signals)\b", code))
    asked = {
        name for name, symbol, roles in zip(tokens.name, tokens.symbol, tokens.roles, strict=True) if symbol < 0 or roles & Role.DEFINITION
    }
    assert wanted <= asked


def test_what_is_given_to_a_macro_is_read_too() -> None:
    found = parse("cpp", "a.cpp", b"struct A {\n  int a GUARDED_BY(mutex());\n  MACRO(f(b))\n  int c;\n};", "a")
    roles = dict(zip(found.tokens.name, found.tokens.roles, strict=True))
    assert roles["mutex"] & Role.CALL
    assert roles["f"] & Role.CALL
    assert roles["b"] == Role.READ


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_has_no_macro_is_the_same_text(text: str) -> None:
    made = prepare(text.encode(), is_cpp=True)
    assert made.text.decode() == text
    assert made.words == []


def test_a_text_that_the_parser_understands_better_as_it_is_stays() -> None:
    """`struct A b{…}` with statements in a lambda looks like a class with a macro."""
    text = "void f() {\n  struct A b{[] { return 1; }};\n}"
    assert parse("cpp", "a.cpp", text.encode(), "a").error_lines == []


def test_a_prepared_text_has_the_length_and_the_lines_of_the_text() -> None:
    """Whatever it is: pieces of all of the texts above, put together by chance."""
    texts = [text for text, _ in [*CPP.values(), *C.values()]] + UNCHANGED
    pieces = [piece for text in texts for piece in re.findall(r"\w+|\s+|[^\w\s]", text)] + [
        'R"(',
        '"',
        "'",
        "/*",
        "#if A\n",
        "#endif\n",
        "\\\r\n",
    ]
    chance = random.Random(7)
    for _ in range(400):
        source = "".join(chance.choices(pieces, k=120)).encode()
        for is_cpp in (True, False):
            made = prepare(source, is_cpp=is_cpp)
            assert len(made.text) == len(source)
            assert made.text.count(b"\n") == source.count(b"\n")
            assert made.words == sorted(set(made.words))


@pytest.mark.parametrize(
    "piece",
    [
        b'R"(',
        b"a<",
        b"f(a<",
        b"class A B {",
        b"A ",
        b"(" * 50 + b"]" * 50,
        b"{\n#if A\n",
        b"FOO(x)\n",
        b"a b c;",
        b"template <",
        b'"\\\r\n',
    ],
)
def test_a_text_of_one_piece_only_ends(piece: bytes) -> None:
    source = piece * (60_000 // len(piece))
    assert len(prepare(source, is_cpp=True).text) == len(source)


BODIES = """void first(void)
{
    int a = 1;
    BEGIN
    CHECK(a, 2);
    END
}
void second(void)
{
    BEGIN
    a = 3;
    BEGIN
    check(a, 4);
    BEGIN
    a->b++;
    END
}
void third(void)
{
    BEGIN CHECK(a, 2);
    BEGIN CHECK("a", b.c); END
}
void fourth(void) { CHECK(1, 2); }
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_macro_that_stands_for_a_statement_hides_no_call_and_no_function(language: str) -> None:
    """`BEGIN` above `CHECK(a, 2);` made a declaration of the call, and the functions that follow went with it."""
    found = parse(language, f"a.{language}", BODIES.encode(), "a")
    assert [symbol.name for symbol in found.symbols[1:]] == ["first", "a", "second", "third", "fourth"]
    assert found.error_lines == []
    calls = [
        (name, line, found.symbols[around].name)
        for name, line, around, roles in zip(found.tokens.name, found.tokens.line, found.tokens.enclosing, found.tokens.roles, strict=True)
        if roles & Role.CALL
    ]
    assert calls == [
        ("CHECK", 4, "first"),
        ("check", 12, "second"),
        ("CHECK", 19, "third"),
        ("CHECK", 20, "third"),
        ("CHECK", 22, "fourth"),
    ]
    assert not any(
        roles & Role.DEFINITION for name, roles in zip(found.tokens.name, found.tokens.roles, strict=True) if name in ("CHECK", "check")
    )


def test_a_type_on_the_line_above_a_function_is_its_type() -> None:
    text = "BOOL\nFIRST(int a) { return a; }\nstatic DWORD\nsecond(void);\nDWORD third;\nvoid f() {\n  DWORD a = 1;\n  BOOL b(2);\n}\n"
    assert declared("c", text)[0] == ["FIRST", "f", "second", "third"]


def test_a_type_that_is_called_is_no_name() -> None:
    """`unsigned(12)` was a second call of what it is given to, for a server answers with what is around it."""
    tokens = parse("cpp", "a.cpp", b"int f() { return q.S(unsigned(12)) + g(int(1), long(2)); }", "a").tokens
    assert tokens.name == ["f", "q", "S", "g"]


def test_code_is_a_text_without_its_comments_and_strings() -> None:
    text = 'a /* b\nc */ d "e" \'f\' 1\'000 g // h\nR"x(i " )j)x" k; l = "m\\"n";'
    code = code_of("cpp", text.encode()).decode()
    assert len(code) == len(text)
    assert code.split() == ["a", "d", "1'000", "g", "k;", "l", "=", ";"]
    assert code_of("python", b"# a") == b"# a"
    assert len(code_of("cpp", b'R"(' * 9_999)) == 29_997


def test_a_branch_of_texts_alone_that_the_parser_does_not_see_is_no_error() -> None:
    """Nothing that could be named stands in it (a message of several lines, as in tinyxml2's tests)."""
    text = 'int f(void) {\n  g("a"\n#ifdef A\n    "b"\n#endif\n  );\n  return h();\n}\n'
    assert parse("c", "a.c", text.encode(), "a").error_lines == []


SHOP = {
    "shop.h": """#pragma once
#define SHOP_API __attribute__((visibility("default")))
namespace shop {
class SHOP_API Visitor {
 public:
  virtual ~Visitor() {}
  virtual bool Visit(int a);
};
class SHOP_API Printer : public Visitor {
 public:
  explicit Printer(int a);
  ~Printer();
  void Push(int a);
  bool Visit(int a) override;
  int depth;
};
SHOP_API Printer* make(int a);
SHOP_API int count();
SHOP_API int total();
}
""",
    "shop.cc": """#include "shop.h"
namespace shop {
bool Visitor::Visit(int a) { return a > 0; }
Printer::Printer(int a) : depth(a) {}
Printer::~Printer() {}
void Printer::Push(int a) { depth += a; }
bool Printer::Visit(int a) { Push(a); return true; }
Printer* make(int a) { return new Printer(a); }
int count() { return 1; }
int total() { return count(); }
}
""",
    "broken.cc": """#include "shop.h"
const char* text = "count of the shop";
// count, or total
int use() { return shop::total() + shop::count(; }
int other() { return ) shop::total(; }
const char* more = "count"; /*
 count */
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    requires("clangd")
    root = write_tree(tmp_path_factory.mktemp("shop") / "work", SHOP)
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        yield index


@pytest.mark.slow
def test_members_of_a_class_behind_a_macro_belong_to_it(shop: Index) -> None:
    push = api.find_callers(shop, "Printer::Push")
    assert [edge.symbol.qualified_name for edge in push.result] == ["shop.shop.Printer.Visit"]
    assert push.completeness.status == "complete"
    assert [found.symbol.qualified_name for found in api.type_hierarchy(shop, "Printer", direction="supertypes").result] == [
        "shop.shop.Visitor"
    ]


@pytest.mark.slow
def test_the_declaration_of_a_destructor_behind_a_macro_is_no_use_of_it(shop: Index) -> None:
    codes = {reason.code for reason in api.find_callers(shop, "shop.h:12:3").completeness.reasons}
    assert "escapes" not in codes


@pytest.mark.slow
def test_who_refers_to_a_macro_before_a_name_is_known(shop: Index) -> None:
    places = shop.rows(
        """
        SELECT o.line FROM occurrences o WHERE o.name = 'SHOP_API' AND o.symbol IS NOT NULL AND o.path = 'shop.h'
        AND NOT list_contains(o.roles, 'definition') ORDER BY ALL
        """
    )
    assert [line for (line,) in places] == [3, 8, 16, 17, 18], "0-based"


@pytest.mark.slow
def test_a_word_of_a_string_or_comment_in_a_broken_file_hides_no_use(shop: Index) -> None:
    """The parser did not understand the file, the lexer does: `Push` is in no code of it, `count` in a line of it."""
    assert [reason.code for reason in api.find_callers(shop, "shop::make").completeness.reasons] == []
    reasons = api.find_references(shop, "count").completeness.reasons
    assert "syntax_error" not in {reason.code for reason in reasons}


PHANTOMS = {
    "check.h": """void Check(int a, int b, int line);
#define begin_ if (1) {
#define end_ }
#define check_eq(a, b) Check((a), (b), __LINE__)
""",
    "a.c": """#include "check.h"
void one(void)
{
    int a = 1;
    begin_
    check_eq(a, 2);
    end_
}
void two(void)
{
    check_eq(1, 2);
}
""",
    "shop.hpp": """struct B { B(int x); ~B(); int v; };
int number(int x);
struct A {
  void f(B b = B(1), int y = number(2));
};
void free_one(B b = B(4), int y = number(5));
""",
    "shop.cpp": """#include "shop.hpp"
B::B(int x) : v(x) {}
B::~B() {}
int number(int x) { return x; }
void A::f(B b, int y) { number(y); }
void free_one(B b, int y) { A a; a.f(b, y); }
int main() {
  free_one();
  B make(B(int));
  return number(B(2).v);
}
""",
}


BOXES = {
    "box.h": """#pragma once
class Box {
 public:
  template <typename U>
  Box& put(U value);
  int n;
};
#include "box_impl.h"
""",
    "box_impl.h": """#pragma once
#include "box.h"
template <typename T>
inline Box& Box::put(T value) {
  T copy = value;
  n = 1;
  return *this;
}
inline Box& operator<<(Box& box, int v) { return box.put(v); }
""",
    "box.cpp": """#include "box.h"
int fill() { Box box; box.put(3L); return 0; }
#define TEST(suite, name) void suite##_##name()
TEST(Boxes, AreFilled) { fill(); }
""",
}


WATCHERS = {
    "watch.h": "struct loop { int n; };\nextern int watch_idle_init(struct loop *l);\nint watch_idle_stop(struct loop *l);\n"
    "void submit(struct loop *l, void (*work)(struct loop *w, int status));\n",
    "watch.c": """#include "watch.h"
static int counted(struct loop *l) { return l->n; }
#define WATCHER(name) \\
  int watch_##name##_init(struct loop *l) { return counted(l); } \\
  int watch_##name##_stop(struct loop *l) { return l->n - 1; }
WATCHER(idle)
#define COUNT(l) counted(l)
#define LESS(l) ((l)->n - 1)
int runs(struct loop *l) { return watch_idle_stop(l) + COUNT(l) + LESS(l); }
""",
    "user.c": """#include "watch.h"
int watch_idle_init(struct loop *l);
int start(void) { struct loop l; return watch_idle_init(&l); }
void submit(struct loop *l, void (*work)(struct loop *w, int status)) { work(l, 0); }
""",
}


@pytest.fixture(scope="module")
def phantoms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    requires("clangd")
    root = write_tree(tmp_path_factory.mktemp("phantoms") / "work", {**PHANTOMS, **BOXES, **WATCHERS})
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        yield index


@pytest.mark.slow
def test_a_call_in_a_prototype_is_made_by_a_symbol(phantoms: Index) -> None:
    """What clangd tells of default values in a prototype was told of a symbol that is none, and `callers` ended with a KeyError."""
    assert lint(lambda sql: phantoms.rows(sql)) == []
    callers = {edge.symbol.qualified_name for edge in api.find_callers(phantoms, "number").result}
    assert callers >= {"shop", "shop.A", "shop.A.f", "shop.main"}
    assert api.find_callers(phantoms, "B::B").result


@pytest.mark.slow
def test_a_macro_in_front_of_a_macro_hides_no_call_of_it(phantoms: Index) -> None:
    """`begin_` above `check_eq(a, 2);` looks like a prototype, and clangd knows that `check_eq` is a macro."""
    answer = api.find_callers(phantoms, "check_eq", direction="incoming")
    assert [edge.symbol.qualified_name for edge in answer.result] == ["a.one", "a.two"]
    assert answer.completeness.status == "complete"


@pytest.mark.slow
def test_a_member_template_whose_body_is_in_another_file_is_one_symbol(phantoms: Index) -> None:
    """The prototype's own `U` made a second symbol of it, which nothing refers to: its name fitted two."""
    answer = api.find_callers(phantoms, "Box::put")
    assert sorted(edge.symbol.name for edge in answer.result) == ["fill", "operator<<"]
    assert phantoms.rows("SELECT count(*) FROM symbol WHERE container_id NOT IN (SELECT sym_id FROM symbol)") == [(0,)]


@pytest.mark.slow
def test_a_function_that_a_macro_writes_is_the_one_that_is_declared(phantoms: Index) -> None:
    """clangd tells the macro where such a function is used: `watch_idle_init` was no symbol, and its calls were calls of `WATCHER`."""
    for name, caller in (("watch_idle_init", "user.start"), ("watch_idle_stop", "watch.runs")):
        answer = api.find_callers(phantoms, name, direction="incoming")
        assert [edge.symbol.qualified_name for edge in answer.result] == [caller]
        assert answer.completeness.status == "complete"
    written = {edge.symbol.name for edge in api.find_callers(phantoms, "WATCHER", direction="incoming").result}
    assert written == {"watch", "watch_idle_init", "watch_idle_stop"}


@pytest.mark.slow
def test_what_the_text_of_a_macro_runs_is_told_of_who_uses_it(phantoms: Index) -> None:
    """`callees COUNT` was empty and complete."""
    names = ("COUNT", "LESS", "WATCHER", "runs", "watch_idle_init")
    told = {name: api.find_callers(phantoms, name, direction="outgoing") for name in names}
    assert {name: answer.completeness.status for name, answer in told.items()} == {
        "COUNT": "partial",
        "LESS": "complete",
        "WATCHER": "partial",
        "runs": "complete",
        "watch_idle_init": "partial",
    }
    assert {edge.symbol.name for edge in told["runs"].result} == {"watch_idle_stop", "COUNT", "LESS", "counted"}
    assert [edge.symbol.name for edge in told["watch_idle_init"].result] == ["WATCHER"]
