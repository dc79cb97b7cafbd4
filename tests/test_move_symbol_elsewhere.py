"""Definitions of TypeScript and Go moved to another file: the program compiles as before, or nothing is written and the answer says why."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from query_support import results_of
from support import crawl_with_ty, crawled_tree, write_tree
from toolchains import requires

from indexer.errors import EditRefused, UsageError
from indexer.servers.registry import find_server

Ask = Callable[..., Any]

TS_FILES = {
    "tsconfig.json": (
        '{"compilerOptions": {"strict": true, "target": "es2022", "module": "es2022", "moduleResolution": "bundler", "jsx": "preserve", '
        '"noEmit": true, "noUnusedLocals": true, "isolatedModules": true, "types": [], "paths": {"@/*": ["./src/*"]}}, "include": ["src"]}'
    ),
    "package.json": '{"name": "shop", "type": "module"}',
    "src/lib/money.ts": """// Copyright of nobody.

import { round, type Digits } from "../math";
import * as names from "./names";
import { only } from "../only";

export interface Amount { value: number; digits: Digits }

/** How much it is. */
export function total(amounts: Amount[]): number {
  const names = amounts.length;
  return round(amounts.reduce((sum, one) => sum + one.value, 0), 2) + names + tax;
}

const tax = 0;
let counter = 0;

export function label(amount: Amount): string {
  return names.of(`${amount.value}`) + only;
}

export const next = (): number => { counter += 1; return counter; };
export function twice(a: string): string;
export function twice(a: number): number;
export function twice(a: any): any { return a + a; }
export const show = (amount: Amount) => label(amount);
function hidden() { return 1; }
export { hidden, tax as rate };
export default function main() { return 0; }
export async function late() { return (await import("./names")).of("x"); }
""",
    "src/lib/names.ts": "export function of(text: string): string { return text; }\n",
    "src/math.ts": (
        "export type Digits = 0 | 2;\nexport function round(value: number, digits: Digits): number { return value + digits; }\n"
    ),
    "src/only.ts": "export const only = 1;\n",
    "src/lib/index.ts": 'export * from "./money";\nexport { label as words } from "./money";\n',
    "src/named.ts": (
        'import {\n  label,\n  total, // of all\n} from "./lib/money";\nimport type { Amount } from "./lib/money";\n'
        "export const a: Amount = { value: 1, digits: 0 };\nconsole.log(label(a), total([a]));\n"
    ),
    "src/whole.ts": 'import * as money from "./lib/money";\nexport const sum = money.total([]) + money.next();\n',
    "src/by_alias.ts": 'import { twice as double } from "@/lib/money";\nexport const four = double(2);\n',
    "src/barrel.ts": 'import { total } from "./lib";\nexport const none = total([]);\n',
    "src/other.ts": 'import { total } from "./lib/money";\n\nexport const of_other = total([]);\n',
    "src/card.tsx": "export function Card() { return <b/>; }\nexport const shown = <Card />;\n",
    "src/jsx.d.ts": "declare namespace JSX { interface IntrinsicElements { b: object } type Element = object }\n",
    "src/lazy.ts": 'export async function lazy() { return (await import("./lib/money")).total([]); }\n',
}

GO_FILES = {
    "go.mod": "module example.com/t\n\ngo 1.22\n",
    "pkg/a.go": """// Package pkg is first.
package pkg

import (
	"fmt"
	"strings"

	"example.com/t/low"
)

// Greet greets.
func Greet(name string) string {
	return fmt.Sprint("hello ", strings.ToUpper(name), low.Mark)
}

type (
	// Shape has an area.
	Shape interface{ Area() int }
	// Box is one.
	Box struct{ N int }
)

func (b Box) Area() int { return b.N * Factor }

const (
	First = iota
	Second
)

var Factor = 2

var Made = compute()

func compute() int { return 1 }

func Uses() string { return Greet("x") + fmt.Sprint(Factor, compute()) }

type Secret struct{ hidden int }

func (s Secret) Get() int { return s.hidden }

func NewSecret() Secret { return Secret{hidden: 1} }
""",
    "pkg/b.go": 'package pkg\n\nimport "fmt"\n\nfunc B() { fmt.Println(Greet("b")) }\n',
    "pkg/a_test.go": 'package pkg\n\nimport "testing"\n\nfunc TestGreet(t *testing.T) { _ = Greet("x") }\n',
    "pkg/outer_test.go": (
        'package pkg_test\n\nimport (\n\t"testing"\n\n\t"example.com/t/pkg"\n)\n\nfunc TestOuter(t *testing.T) { _ = pkg.Greet("x") }\n'
    ),
    "pkg/only_linux.go": "package pkg\n\nfunc OnLinux() int { return 1 }\n",
    "low/low.go": "package low\n\nconst Mark = \"!\"\n",
    "up/up.go": (
        'package up\n\nimport "example.com/t/pkg"\n\ntype Wrap struct{ pkg.Box }\n\n'
        'func Up() int { return Wrap{Box: pkg.Box{N: 2}}.Area() + Wrap{}.Box.N + pkg.Factor }\n'
    ),
    "main.go": 'package main\n\nimport (\n\t"fmt"\n\n\t"example.com/t/pkg"\n\t"example.com/t/up"\n)\n\nfunc main() {\n\thello := "x"\n'
    "\tfmt.Println(pkg.Greet(hello), up.Up())\n}\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def ts_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("ts7")
    return crawled_tree(tmp_path_factory.mktemp("ts") / "work", TS_FILES)


@pytest.fixture(scope="module")
def go_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("go", "gopls")
    return crawled_tree(tmp_path_factory.mktemp("go") / "work", GO_FILES)


def _asked(root: Path, files: dict[str, str]) -> Iterator[Ask]:
    with results_of("move_symbol", root) as given:
        yield given
    for path in [path for path in root.rglob("*") if path.suffix in (".ts", ".tsx", ".go") and str(path.relative_to(root)) not in files]:
        path.unlink()
    for folder in sorted((path for path in root.rglob("*") if path.is_dir() and ".lspidx" not in path.parts), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()
    write_tree(root, files)


@pytest.fixture
def ts(ts_shop: Path) -> Iterator[Ask]:
    yield from _asked(ts_shop, TS_FILES)


@pytest.fixture
def go(go_shop: Path) -> Iterator[Ask]:
    yield from _asked(go_shop, GO_FILES)


def _compiles(root: Path) -> None:
    """The compiler takes the project with its tests: TypeScript's own, or the go command."""
    if (root / "go.mod").exists():
        command = ["go", "vet", "./..."]
    else:
        found = find_server("ts7")
        assert found is not None
        command = [found.command[0], "--noEmit", "-p", "tsconfig.json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env={**os.environ, "GOFLAGS": "-mod=mod"})
    assert done.returncode == 0, done.stdout + done.stderr


def _text(root: Path, path: str) -> str:
    return (root / path).read_text(encoding="utf-8")


# ---- TypeScript


def test_both_projects_compile_as_they_are(ts_shop: Path, go_shop: Path):
    _compiles(ts_shop)
    _compiles(go_shop)


@pytest.mark.parametrize("to", ["src/lib/sums.ts", "src/sums.ts", "src/only.ts", "src/deep/er/sums.ts"])
def test_of_typescript_a_function_goes_with_what_it_imports_and_its_users_follow(ts_shop: Path, ts: Ask, to: str):
    done = ts("lib.money.label", to=to, apply=True)
    assert (done.left, done.doubts) == ([], [])
    _compiles(ts_shop)
    assert "import * as names from" not in _text(ts_shop, "src/lib/money.ts"), "nothing else used it"
    assert "total, // of all" in _text(ts_shop, "src/named.ts")
    assert "label as words" in _text(ts_shop, "src/lib/index.ts")


def test_of_typescript_what_the_old_module_goes_on_using_is_imported_there(ts_shop: Path, ts: Ask):
    ts("lib.money.Amount", to="src/lib/amount.ts", apply=True)
    _compiles(ts_shop)
    assert 'import type { Amount } from "./amount";' in _text(ts_shop, "src/lib/money.ts")
    assert 'export type { Amount } from "./amount";' in _text(ts_shop, "src/lib/index.ts")
    assert 'import type { Digits } from "../math";' in _text(ts_shop, "src/lib/amount.ts")
    assert _text(ts_shop, "src/lib/money.ts").startswith("// Copyright")


def test_of_typescript_a_whole_module_under_a_name_is_followed_by_the_name_alone(ts_shop: Path, ts: Ask):
    with pytest.raises(EditRefused, match="could not be rewritten"):
        ts("lib.money.total", to="src/lib/again.ts", apply=True)
    done = ts("lib.money.total", to="src/lib/sums.ts", apply=True, anyway=True)
    assert [(place.path, place.line) for place in done.left] == [("src/lazy.ts", 1)], "a module that is loaded as it runs"
    text = _text(ts_shop, "src/whole.ts")
    assert text.startswith('import * as money from "./lib/money";\nimport { total } from "./lib/sums";\n')
    assert "total([]) + money.next()" in text
    assert "export const tax = 0" in _text(ts_shop, "src/lib/money.ts")


def test_of_typescript_overloads_go_together_and_an_alias_of_paths_is_kept(ts_shop: Path, ts: Ask):
    ts("lib.money.twice", to="src/lib/sums.ts", apply=True)
    _compiles(ts_shop)
    assert _text(ts_shop, "src/by_alias.ts").startswith('import { twice as double } from "@/lib/sums";\n')
    assert _text(ts_shop, "src/lib/sums.ts").count("export function twice") == 3


def test_of_typescript_the_module_that_gets_it_no_longer_imports_it(ts_shop: Path, ts: Ask):
    done = ts("lib.money.total", to="src/other.ts", apply=True, anyway=True)
    text = _text(ts_shop, "src/other.ts")
    assert text.index("export function total") < text.index("export const of_other"), "before its first use"
    assert "import { total }" not in text
    assert any("would import each other" in doubt for doubt in done.doubts) is False


def test_of_typescript_what_would_import_back_is_told(ts: Ask):
    shown = ts("lib.money.show", to="src/lib/names.ts")
    assert [doubt for doubt in shown.doubts if "would import each other" in doubt] != []


def test_of_typescript_the_old_module_can_keep_the_name(ts_shop: Path, ts: Ask):
    ts("lib.names.of", to="src/lib/texts.ts", keep=True, apply=True, anyway=True)
    _compiles(ts_shop)
    assert 'export { of } from "./texts"' in _text(ts_shop, "src/lib/names.ts")


def test_of_typescript_an_element_follows(ts_shop: Path, ts: Ask):
    ts("card.Card", to="src/card_of.tsx", apply=True)
    _compiles(ts_shop)
    with pytest.raises(EditRefused, match="elements of JSX"):
        ts("card.shown", to="src/card_again.ts")


@pytest.mark.parametrize(
    ("symbol", "to", "why"),
    [
        ("lib.money.main", "src/only.ts", "exports as default"),
        ("lib.money.tax", "src/only.ts", "exports 'tax' as 'rate'"),
        ("lib.money.next", "src/only.ts", "sets 'counter'"),
        ("lib.money.counter", "src/only.ts", "is set outside of its definition"),
        ("lib.money.label", "src/named.ts", "has 'label'|would import each other|something else"),
        ("lib.money.label", "src/lib/money.ts", "is in 'src/lib/money.ts' already"),
        ("lib.money.label", "src/label.js", "between TypeScript and JavaScript"),
        ("lib.money.label", "src/label.d.ts", "is no module"),
        ("lib.money.Amount.value", "src/only.ts", "top of a module"),
    ],
)
def test_of_typescript_what_cannot_be_right_is_refused(ts: Ask, symbol: str, to: str, why: str):
    with pytest.raises((EditRefused, UsageError), match=why):
        ts(symbol, to=to, apply=True)


# ---- Go


@pytest.mark.parametrize("to", ["pkg/b.go", "pkg/new.go"])
@pytest.mark.parametrize("symbol", ["pkg.a.Greet", "pkg.a.Box", "pkg.a.Factor", "pkg.a.compute", "pkg.a.Secret"])
def test_of_go_a_definition_goes_to_another_file_of_its_package(go_shop: Path, go: Ask, symbol: str, to: str):
    done = go(symbol, to=to, apply=True)
    assert len(done.edited.files) == 2
    _compiles(go_shop)


@pytest.mark.parametrize("to", ["low/low.go", "fresh/made.go", "pkg/inner/made.go"])
def test_of_go_a_function_goes_to_another_package_and_all_that_name_it_follow(go_shop: Path, go: Ask, to: str):
    done = go("pkg.a.Greet", to=to, apply=True)
    assert (done.left, done.doubts) == ([], [])
    _compiles(go_shop)
    package = Path(to).parent.name
    assert f"{package}.Greet(hello)" in _text(go_shop, "main.go")
    assert '"example.com/t/pkg"' not in _text(go_shop, "main.go"), "nothing else of it is used"
    assert '"strings"' not in _text(go_shop, "pkg/a.go")
    assert "// Greet greets.\nfunc Greet" in _text(go_shop, to)


def test_of_go_a_type_goes_with_its_methods_and_the_field_that_embeds_it_keeps_its_name(go_shop: Path, go: Ask):
    go("pkg.a.Factor", to="low/low.go", apply=True)
    crawl_with_ty(go_shop, jobs=1)
    done = go("pkg.a.Box", to="fresh/box.go", apply=True)
    _compiles(go_shop)
    assert "type Wrap struct{ fresh.Box }" in _text(go_shop, "up/up.go")
    assert "Wrap{Box: fresh.Box{N: 2}}.Area() + Wrap{}.Box.N" in _text(go_shop, "up/up.go")
    assert "// Box is one.\ntype Box struct{ N int }\n\nfunc (b Box) Area()" in _text(go_shop, "fresh/box.go")
    assert done.doubts == []
    write_tree(go_shop, GO_FILES)
    crawl_with_ty(go_shop, jobs=1)


def test_of_go_a_name_that_is_taken_gets_another(go_shop: Path, go: Ask):
    go("pkg.a.Greet", to="hello/hello.go", apply=True)
    _compiles(go_shop)
    assert 'hellopkg "example.com/t/hello"' in _text(go_shop, "main.go")


@pytest.mark.parametrize(
    ("symbol", "to", "why"),
    [
        ("pkg.a.Box", "low/low.go", "in a circle|each other"),
        ("pkg.a.Uses", "fresh/made.go", "only package 'pkg' sees"),
        ("pkg.a.compute", "fresh/made.go", "could not name it; rename it first"),
        ("pkg.a.Secret", "fresh/made.go", "members of 'Secret' that only its package sees"),
        ("pkg.a.NewSecret", "fresh/made.go", "which only that package sees"),
        ("pkg.a.Secret.Get", "fresh/made.go", "stays in the package of its type"),
        ("pkg.a.Second", "pkg/b.go", "take their values from their places"),
        ("pkg.a.Made", "pkg/b.go", "in another order than before"),
        ("pkg.only_linux.OnLinux", "pkg/b.go", "other builds"),
        ("pkg.a_test.TestGreet", "pkg/b.go", "between files of tests and others"),
        ("pkg.a.Greet", "up/internal/x.go", "may not import"),
        ("pkg.a.Greet", "made.go", "is of a program"),
        ("pkg.a.Greet", "fresh", "is no file of Go"),
        ("pkg.a.Box.N", "fresh/made.go", "at the top of a file"),
    ],
)
def test_of_go_what_cannot_be_right_is_refused(go: Ask, symbol: str, to: str, why: str):
    with pytest.raises((EditRefused, UsageError), match=why):
        go(symbol, to=to, apply=True)


def test_of_go_the_old_package_can_keep_a_type(go_shop: Path, go: Ask):
    go("pkg.a.Shape", to="fresh/made.go", keep=True, apply=True)
    _compiles(go_shop)
    assert "type Shape = fresh.Shape" in _text(go_shop, "pkg/a.go")
