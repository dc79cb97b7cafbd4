"""Parameters of TypeScript and Go changed with all calls: the text is what was meant, or nothing is written and the answer says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from query_support import results_of
from support import crawled_tree, write_tree
from toolchains import requires

from indexer.errors import EditRefused, UsageError
from indexer.languages import GO, TYPESCRIPT
from query.refactor.positional.placing import Argument, Parameter, Rewritten, Rules, as_of, changed, rewritten
from query.refactor.positional.texts import added, check_expression, free_names

Ask = Callable[..., Any]

TS_FILES = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "target": "es2022", "module": "es2022", "jsx": "preserve", "noEmit": true}}',
    "package.json": '{"name": "shop", "type": "module"}',
    "a.ts": """export function plain(a: number, b = 2, c?: string): number {
  const inner = (a: number) => a + b;
  return inner(a) + b + (c ?? "").length;
}
/**
 * Greets.
 * @param who whom
 * @param loud whether
 *   it is loud
 */

export function greet(who: string, loud: boolean, extra?: number): string {
  return `${who}` + { who }.who + (extra ?? 0); }
export const arrow = (x: number, { y, z }: { y: number; z: string }, ...rest: string[]) => x + y + z.length + rest.length;
export const bare = n => n;
export class Base {
  n: number;
  constructor(public name: string, size: number) { this.n = size; }
  area(factor: number, plus = 0): number { return this.n * factor + plus; }
  static of(n: number): Base { return new Base("x", n); }
  handler = (e: string, f: number) => e.length + f;
  get size() { return this.n; }
}
export interface Shape { area(factor: number, plus?: number): number }
export class Sub extends Base implements Shape {
  area(f: number, p = 0): number { return super.area(f, p); }
}
export class Own extends Base { constructor() { super("a", 1); } }
export class Again extends Base { twin() { return new (this.constructor as any)(1, 2); } }
export function over(a: string): string;
export function over(a: number, b: number): number;
export function over(a: any, b?: any): any { return b ? a : a; }
export function withThis(this: object, a: number, b: number) { return a - b; }
export function all(a: number, b: number) { return arguments.length + a; }
export const typed: (a: number) => number = (a) => a;
export function made() { return function inner(a: number, b: number) { return a - b; }; }
export function kind() { return class Kind { constructor(a: number, b: number) { a - b; } }; }
export function takes(a: number, unused: () => number) { return a; }
export function nameless() { return class { constructor(a: number, b: number) { a - b; } }; }
""",
    "b.tsx": """import { plain, arrow as ar, greet, bare, Base, Sub, Own, over, withThis, all, takes, type Shape } from "./a";
import * as A from "./a";
plain(1); plain(1, 3, "x"); A.plain(1, 2);
const xs: [number, number] = [1, 2];
ar(1, { y: 1, z: "" }, "a", "b");
greet("a", true); greet(greet("b", false), true, 3);
const s: Shape = new Sub("n", 3);
s.area(1, 2); s?.area(4);
new Own().area(1);
new Base("q", 1).handler("e", 1);
over("s"); over(1, 2);
withThis.call({}, 1, 2);
all(1, 2);
takes(1, () => 2);
takes(greet("x", true).length, Math.random);
bare(1);
export { plain as again };
""",
    "spread.ts": """import { plain } from "./a";
const xs: [number, number] = [1, 2];
plain(...xs);
[1, 2].map(plain);
type P = Parameters<typeof plain>;
type R = ReturnType<typeof plain>;
plain.call(null, 1, 2);
""",
    "card.tsx": """export function Card({ title }: { title: string }) { return title; }
export const view = <Card title="x" />;
""",
}

GO_FILES = {
    "go.mod": "module example.com/t\n\ngo 1.22\n",
    "pkg/a.go": """package pkg

import (
	"fmt"
	"time"
)

type Shape interface {
	Area(factor, plus int) int
	Name(string) string
}

type Base struct{ n int }

func (b *Base) Area(factor, plus int) int { return b.n*factor + plus }

func (b Base) Name(_ string) string { return fmt.Sprint(b.n) }

func (b Base) String() string { return "x" }

type Wrap struct{ Base }

func Plain(a, b int, c string, rest ...string) (n int, err error) {
	func(a int) { _ = a }(b)
	return a + b + len(c) + len(rest), nil
}

func Wait(d time.Duration, n int) int { return n }

func Gen[T any](x T, n int) T { return x }

func two() (int, int)  { return 1, 2 }
func add(a, b int) int { return a + b }

var _ = add(two())

func Local(a, b int) int { return a }

func Made(a, b int) int { return a - b }

func Blank(x, _ int, _ string) int { return x }

var _ = Blank(1, 2, "x")

func Held(a, b int) int { return a }

type Holder struct{ f func(a, b int) int }

var holder = Holder{f: Held}
""",
    "main.go": """package main

import (
	"example.com/t/pkg"
	"fmt"
	"time"
)

func use(s pkg.Shape) int { return s.Area(1, 2) }

func main() {
	b := &pkg.Base{}
	pkg.Plain(1, 2, "x")
	xs := []string{"a"}
	pkg.Plain(1, 2, "x", xs...)
	pkg.Wait(time.Second, 3)
	fmt.Println(use(b), b.Area(3, 4), pkg.Wrap{}.Name("q"))
	g := (*pkg.Base).Area
	g(b, 1, 2)
	pkg.Gen[int](1, 2)
	defer pkg.Plain(1, 2, "d")
	once := 3
	pkg.Local(1, once)
}
""",
    "gen/made.go": """// Code generated by hand. DO NOT EDIT.

package gen

import "example.com/t/pkg"

func Made() int { return pkg.Made(1, 2) }
""",
    "pkg/a_test.go": """package pkg

import "testing"

func BenchmarkAdd(b *testing.B) { helper(b, 1) }

func helper(b *testing.B, n int) { b.Log(n) }
""",
    "tags/of_linux.go": "package tags\n\nfunc of(n int, s string) int { return n }\n",
    "tags/of_windows.go": "package tags\n\nfunc of(n int, s string) int { return n + 1 }\n",
    "tags/use.go": "package tags\n\nvar _ = of(1, \"\")\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def ts_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("ts7")
    return crawled_tree(tmp_path_factory.mktemp("ts") / "work", TS_FILES)


@pytest.fixture(scope="module")
def go_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("go", "gopls")
    return crawled_tree(tmp_path_factory.mktemp("go") / "work", GO_FILES)


@pytest.fixture
def ts(ts_shop: Path) -> Iterator[Ask]:
    with results_of("change_signature", ts_shop) as given:
        yield given
    write_tree(ts_shop, TS_FILES)


@pytest.fixture
def go(go_shop: Path) -> Iterator[Ask]:
    with results_of("change_signature", go_shop) as given:
        yield given
    write_tree(go_shop, GO_FILES)


def _whys(found: Any) -> list[tuple[str, int, str]]:
    return [(item.place.path, item.place.line, item.why) for item in found.left]


def _written(root: Path, found: Any, path: str, *texts: str) -> None:
    assert found.edited.applied
    text = (root / path).read_text(encoding="utf-8")
    assert [one for one in texts if one not in text] == [], text


# ---- TypeScript


def test_of_typescript_a_parameter_is_added_with_what_calls_pass(ts_shop: Path, ts: Ask):
    done = ts("a.greet", add=["times: number"], call_with=["times=1"], after="who", apply=True)
    assert (done.after, done.calls, done.left, done.doubts) == ("(who, times, loud, extra)", 4, [], [])
    _written(ts_shop, done, "a.ts", "greet(who: string, times: number, loud: boolean, extra?: number)")
    _written(ts_shop, done, "b.tsx", 'greet("a", 1, true); greet(greet("b", 1, false), 1, true, 3);')


def test_what_a_call_leaves_out_is_passed_as_undefined_where_something_stands_behind_it(ts: Ask):
    shown = ts("a.plain", order=["a", "c", "b"])
    assert '+plain(1); plain(1, "x", 3); A.plain(1, undefined, 2);' in shown.edited.files[1].diff
    shown = ts("a.plain", add=["d = 4"], after="a")
    assert '+plain(1); plain(1, undefined, 3, "x"); A.plain(1, undefined, 2);' in shown.edited.files[1].diff


def test_what_is_spread_handed_over_or_made_a_type_is_listed_and_not_written(ts: Ask):
    shown = ts("a.plain", add=["d = 4"])
    assert _whys(shown) == [
        ("spread.ts", 3, "what is spread there would be taken for other parameters"),
        ("spread.ts", 4, "it is handed over, and how it is called there is not known"),
        ("spread.ts", 5, "a type is made of it there"),
        ("spread.ts", 7, "it is called there by 'call'"),
    ]
    with pytest.raises(EditRefused, match="nothing was written"):
        ts("a.plain", add=["d = 4"], apply=True)


def test_of_typescript_a_rename_follows_the_body_and_the_documentation(ts_shop: Path, ts: Ask):
    done = ts("a.greet", rename=["who=whom"], apply=True)
    assert (done.calls, done.left, done.doubts) == (0, [], [])
    _written(ts_shop, done, "a.ts", "@param whom whom", "`${whom}` + { who: whom }.who", "greet(whom: string, loud")


def test_a_parameter_that_goes_takes_its_documentation_and_the_arguments_along(ts_shop: Path, ts: Ask):
    done = ts("a.greet", remove=["loud"], apply=True)
    _written(ts_shop, done, "a.ts", " * @param who whom\n */", "greet(who: string, extra?: number)")
    _written(ts_shop, done, "b.tsx", 'greet("a"); greet(greet("b"), 3);')
    shown = ts("a.takes", remove=["unused"])
    assert shown.calls == 2


def test_implementers_and_overriders_change_with_the_interface(ts_shop: Path, ts: Ask):
    done = ts("a.Shape.area", add=["k: number"], call_with=["k=7"], after="factor", apply=True, anyway=True)
    assert done.functions == ["a.Shape.area", "a.Base.area", "a.Sub.area"]
    _written(
        ts_shop,
        done,
        "a.ts",
        "area(factor: number, k: number, plus = 0): number {",
        "area(f: number, k: number, p = 0): number { return super.area(f, 7, p); }",
        "interface Shape { area(factor: number, k: number, plus?: number): number }",
    )
    _written(ts_shop, done, "b.tsx", "s.area(1, 7, 2); s?.area(4, 7);", "new Own().area(1, 7);")


def test_a_declaration_without_a_body_gets_no_value(ts: Ask):
    def heads(**asked: Any) -> str:
        return "\n".join(item.diff for item in ts("a.Shape.area", **asked).edited.files)

    assert "interface Shape { area(factor: number, k?: number, plus?: number): number }" in heads(add=["k = 7"], after="factor")
    assert "+  area(factor: number, k = 7, plus = 0): number {" in heads(add=["k = 7"], after="factor")
    assert "area(k: 1 | 2 | undefined, factor: number, plus?: number): number }" in heads(add=["k: 1 | 2 = 1"], order=["k,factor,plus"])
    with pytest.raises(UsageError, match="needs a type; say it as 'k: T = …'"):
        heads(add=["k = new Map()"])


def test_of_a_constructor_calls_of_super_and_of_classes_below_change(ts: Ask):
    shown = ts("a.Base", add=["k: number"], call_with=["k=9"])
    texts = "\n".join(item.diff for item in shown.edited.files)
    for text in ('super("a", 1, 9)', 'new Base("x", n, 9)', 'new Sub("n", 3, 9)', 'new Base("q", 1, 9)'):
        assert text in texts
    assert _whys(shown) == [("a.ts", 29, "an object is made there of a class that is not named")]
    with pytest.raises(EditRefused, match="is a member of the class, too"):
        ts("a.Base", rename=["name=label"])


def test_patterns_rests_arrows_and_this_keep_their_places(ts: Ask):
    shown = ts("a.arrow", add=["q: string"], call_with=['q="w"'], after="x")
    texts = "\n".join(item.diff for item in shown.edited.files)
    assert "(x: number, q: string, { y, z }: { y: number; z: string }, ...rest: string[])" in texts
    assert 'ar(1, "w", { y: 1, z: "" }, "a", "b")' in texts
    assert "const bare = (n, k = 1) => n" in ts("a.bare", add=["k = 1"]).edited.files[0].diff
    shown = ts("a.withThis", order=["b", "a"])
    assert "withThis(this: object, b: number, a: number)" in shown.edited.files[0].diff
    assert _whys(shown) == [("b.tsx", 12, "it is called there by 'call'")]


def test_overloads_change_together_or_not_at_all(ts_shop: Path, ts: Ask):
    done = ts("a.over", rename=["a=q"], apply=True)
    _written(
        ts_shop, done, "a.ts", "over(q: string): string", "over(q: number, b: number)", "over(q: any, b?: any): any { return b ? q : q; }"
    )


def test_overloads_with_other_parameters_stand_against_it(ts: Ask):
    with pytest.raises(EditRefused, match="is declared with other parameters"):
        ts("a.over", add=["z = 1"])


def test_what_looks_at_arguments_or_has_a_type_beside_it_is_a_doubt(ts: Ask):
    assert ts("a.all", order=["b", "a"]).doubts == ["'all' looks at 'arguments' at a.ts:34"]
    assert ts("a.typed", add=["z = 1"]).doubts == ["what 'typed' is assigned to at a.ts:35 may say its parameters, too, and stays as it is"]


def test_what_is_written_where_a_value_stands_is_a_doubt(ts: Ask) -> None:
    assert [text for text in ts("a.made.inner", order=["b", "a"]).doubts if "where a value stands" in text]
    of_class = ts("", file_path="a.ts", position_pattern="class Kind { @@constructor", order=["b", "a"])
    assert [text for text in of_class.doubts if "where a value stands" in text]
    with pytest.raises(EditRefused, match="belongs to no class that is known"):
        ts("", file_path="a.ts", position_pattern="return class { @@constructor", order=["b", "a"])


def test_an_element_calls_its_component_with_properties(ts: Ask):
    assert _whys(ts("card.Card", add=["x = 1"])) == [("card.tsx", 2, "as an element it is called with its properties")]


@pytest.mark.parametrize(
    ("symbol", "wish", "why"),
    [
        ("a.plain", {"remove": ["b"]}, "'b' is used in the body of 'plain' on lines 2, 3"),
        ("a.plain", {"remove": ["d"]}, "it has no parameter 'd'; it has: a, b, c"),
        ("a.plain", {"rename": ["a=inner"]}, "has a 'inner' already"),
        ("a.plain", {"add": ["inner = 1"]}, "has a 'inner' already"),
        ("a.plain", {"add": ["t: number"]}, "call_with 't=…'"),
        ("a.plain", {"add": ["t = 1, u = 2"]}, "is not one parameter"),
        ("a.plain", {"add": ["t"], "call_with": ["t=...x"]}, "is no expression"),
        ("a.greet", {"order": ["extra", "who", "loud"]}, "'who' has no default and would stand after 'extra'"),
        ("a.arrow", {"order": ["rest", "x", "#2"]}, "takes all that is left"),
        ("a.plain", {"rename": ["a=class"]}, "keyword"),
        ("a.Base.size", {"add": ["t = 1"]}, "a getter or a setter"),
        ("a.Shape", {"add": ["t = 1"]}, "has no constructor of its own"),
    ],
)  # fmt: skip
def test_of_typescript_what_cannot_be_done_is_refused(ts: Ask, symbol: str, wish: dict[str, Any], why: str) -> None:
    with pytest.raises((EditRefused, UsageError), match=why):
        ts(symbol, **wish)


# ---- Go


def test_of_go_a_parameter_is_added_with_the_import_that_it_needs(go_shop: Path, go: Ask):
    wish = {"add": ["ctx context.Context"], "call_with": ["ctx=context.TODO()"], "order": ["ctx", "a", "b", "c", "rest"]}
    done = go("pkg.a.Plain", **wish, apply=True)
    assert (done.calls, done.left, done.doubts) == (3, [], [])
    _written(go_shop, done, "pkg/a.go", '\t"context"\n\t"fmt"', "Plain(ctx context.Context, a, b int, c string, rest ...string)")
    _written(
        go_shop, done, "main.go", '\t"context"\n', 'Plain(context.TODO(), 1, 2, "x", xs...)', 'defer pkg.Plain(context.TODO(), 1, 2, "d")'
    )


def test_of_go_names_that_share_a_type_get_their_own_where_they_part(go: Ask):
    shown = go("pkg.a.Plain", order=["b", "c", "a", "rest"])
    assert "func Plain(b int, c string, a int, rest ...string)" in shown.edited.files[1].diff
    assert "xs..." not in "".join(text for text in shown.edited.files[0].diff.split("\n") if text.startswith("+") and "1, 2" in text)
    shown = go("pkg.a.Base.Area", order=["plus", "factor"])
    assert "Area(plus, factor int) int { return b.n*factor + plus }" in shown.edited.files[1].diff


def test_of_go_the_interface_changes_and_method_expressions_are_listed(go: Ask):
    shown = go("pkg.a.Base.Area", add=["k int"], call_with=["k=7"])
    assert shown.functions == ["pkg.a.Base.Area", "pkg.a.Shape.Area"]
    texts = "\n".join(item.diff for item in shown.edited.files)
    assert "return s.Area(1, 2, 7)" in texts
    assert "b.Area(3, 4, 7)" in texts
    assert _whys(shown) == [("main.go", 18, "it is handed over, and how it is called there is not known")]


def test_of_go_parameters_without_names_get_types_alone(go_shop: Path, go: Ask):
    done = go("pkg.a.Shape.Name", add=["n int"], call_with=["n=2"], apply=True)
    _written(go_shop, done, "pkg/a.go", "\tName(string, int) string", "Name(_ string, n int) string")
    _written(go_shop, done, "main.go", 'pkg.Wrap{}.Name("q", 2)')


def test_of_go_what_nothing_uses_any_more_is_told(go: Ask):
    assert go("pkg.a.Local", remove=["b"]).doubts == ["nothing in 'main.go' would use 'once' any more, which is an error"]


def test_of_go_the_blank_name_is_not_missed(go_shop: Path, go: Ask):
    done = go("pkg.a.Blank", remove=["#2"], apply=True)
    _written(go_shop, done, "pkg/a.go", "func Blank(x int, _ string) int", 'var _ = Blank(1, "x")')


def test_of_go_an_import_that_nothing_uses_any_more_goes(go_shop: Path, go: Ask):
    done = go("pkg.a.Wait", remove=["d"], apply=True)
    assert done.doubts == []
    assert '"time"' not in (go_shop / "main.go").read_text(encoding="utf-8")
    assert '"time"' not in (go_shop / "pkg/a.go").read_text(encoding="utf-8")


def test_of_go_results_of_one_call_as_all_arguments_are_listed(go: Ask):
    assert _whys(go("pkg.a.add", order=["b", "a"])) == [("pkg/a.go", 35, "what one call gives is passed as all its arguments")]


def test_of_go_a_function_in_a_field_is_listed(go: Ask):
    assert _whys(go("pkg.a.Held", order=["b", "a"])) == [("pkg/a.go", 49, "it is handed over, and how it is called there is not known")]


def test_of_go_what_the_library_calls_and_what_is_generated_are_doubts(go: Ask):
    doubts = go("pkg.a.Base.String", add=["n int"], call_with=["n=2"]).doubts
    assert [text for text in doubts if "outside the workspace" in text]
    assert [text for text in doubts if "the language or its library" in text]
    with pytest.raises(EditRefused, match=r"gen/made\.go"):
        go("pkg.a.Made", order=["b", "a"], apply=True)


def test_of_go_what_a_runner_calls_is_a_doubt_and_its_helper_is_none(go_shop: Path, go: Ask):
    doubts = go("BenchmarkAdd", add=["n int"], call_with=["n=2"]).doubts
    assert doubts == ["'BenchmarkAdd' is run by the language or by a runner of tests, which knows its parameters"]
    _written(go_shop, go("pkg.a_test.helper", order=["n", "b"], apply=True), "pkg/a_test.go", "{ helper(1, b) }")


def test_of_go_files_for_other_systems_change_too(go_shop: Path, go: Ask):
    done = go("tags.of_linux.of", order=["s", "n"], apply=True, anyway=True)
    _written(go_shop, done, "tags/of_linux.go", "of(s string, n int)")
    _written(go_shop, done, "tags/of_windows.go", "of(s string, n int)")
    _written(go_shop, done, "tags/use.go", 'of("", 1)')


# ---- calls, without texts

_A, _B, _C = Parameter("a", was=0), Parameter("b", is_optional=True, may_follow=True, was=1), Parameter("rest", is_rest=True, was=2)


def test_arguments_with_effects_keep_their_order():
    from query.refactor.parameters.signature import Wish

    change = changed([_A, Parameter("b", was=1)], Wish(order=("b", "a")), [], may_leave_out=True)
    plain, acting = Argument(), Argument(acts=True, reads=True)
    assert rewritten(change, [acting, acting], Rules(filler="undefined")).why
    assert [item.number for item in rewritten(change, [plain, acting], Rules()).arguments or ()] == [1, 0]


def test_a_function_that_takes_fewer_changes_with_what_it_takes_only():
    from query.refactor.parameters.signature import Wish

    change = changed([_A, Parameter("b", was=1)], Wish(removed=("b",)), [], may_leave_out=True)
    own = as_of([_A], change, may_take_fewer=True)
    assert own is not None
    assert own.is_same_shape
    assert as_of([_A], change, may_take_fewer=False) is None
    swapped = changed([_A, Parameter("b", was=1)], Wish(order=("b", "a")), [], may_leave_out=True)
    assert as_of([_A], swapped, may_take_fewer=True) is None


def test_a_rename_leaves_every_call():
    from query.refactor.parameters.signature import Wish

    change = changed([_A, _B, _C], Wish(renamed={"a": "z"}), [], may_leave_out=True)
    assert rewritten(change, [Argument(is_spread=True)], Rules()) == Rewritten()


def test_texts_are_read_as_the_language_reads_them():
    assert added("opts ...Option", "a.go", GO).is_rest
    assert added("n?: number", "a.ts", TYPESCRIPT).is_optional
    for text, path, language in (
        ("n", "a.go", GO),
        ("private x = 1", "a.ts", TYPESCRIPT),
        ("a int, b int", "a.go", GO),
        ("a: b", "a.js", TYPESCRIPT),
    ):
        if path != "a.js":
            with pytest.raises(UsageError):
                added(text, path, language)
    with pytest.raises(UsageError):
        check_expression("a", "1, 2", "a.ts", TYPESCRIPT)
    assert list(free_names("ctx context.Context", "a.go", GO, is_parameter=True)) == [("context", True)]
    assert dict(free_names("(x) => x + y", "a.ts", TYPESCRIPT, is_parameter=False)) == {"y": False}
