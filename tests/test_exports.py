"""What JavaScript and TypeScript export without a name, and functions that are assigned to members, given away or exported whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from query_support import generation
from support import Watcher, rows, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import EditRefused, UsageError
from query.facts.index import open_index
from query.surface.service import Service

pytestmark = pytest.mark.slow

FILES = {
    "package.json": '{"name": "thing"}\n',
    "arrow.ts": "import { helper } from './lib';\n\nexport default (size: number) => {\n  return helper(size);\n};\n",
    "alone.ts": "export default function (size: number) {\n  return size;\n}\n",
    "made.js": "export default class {\n  go() {}\n}\n",
    "table.ts": "import { helper } from './lib';\nexport default Object.freeze({\n  run: helper,\n});\n",
    "lib.ts": "export function helper(size: number) { return size; }\n",
    "whole.cjs": "module.exports = function session(size) { return size; };\n",
    "short.cjs": "module.exports = (size) => size;\n",
    "app.js": (
        "import { helper } from './lib';\nexport const app = {};\napp.render = function render(size) { return helper(size); };\n"
        "export const later = new Promise(function executor(done) { done(helper(1)); });\n"
    ),
    "use.ts": (
        "import sized from './arrow';\nimport alone from './alone';\nimport Made from './made';\nimport table from './table';\n"
        "import * as arrow from './arrow';\n\nexport function all() {\n  new Made();\n  table;\n"
        "  return sized(1) + alone(2) + arrow.default(3);\n}\n"
    ),
    "koa.cjs": (
        "const Emitter = require('events');\nmodule.exports = class Application extends Emitter {\n"
        "  start() { return session(1); }\n};\nconst session = require('./whole.cjs');\n"
    ),
    "runs.cjs": ("const Koa = require('./koa.cjs');\nnew Koa().start();\nclass Custom extends Koa {}\nmodule.exports = { Custom };\n"),
    "checks.ts": (
        "declare function expect(what: unknown): { toBeDefined(): void };\nexport function shown() { return 1; }\n"
        "export function check() {\n  const local = () => shown();\n  expect(local).toBeDefined();\n  expect(shown).toBeDefined();\n"
        "  setTimeout(shown, 1);\n}\n"
    ),
    "use.cjs": "const session = require('./whole.cjs');\nfunction start() { return session(1); }\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("ts7")
    root = write_tree(tmp_path_factory.mktemp("exports") / "thing", FILES)
    crawl(root, Config(jobs=1), Watcher(), environment={})
    return root


@pytest.fixture
def service(root: Path) -> Iterator[Service]:
    made = Service(root)
    yield made
    made.close()


def test_callers_of_what_has_no_name_are_found(root: Path) -> None:
    """By the import's own name, by `default`, and of a file that holds nothing else: that is the function, and no module."""
    found = rows(generation(root), "SELECT callee, caller, line FROM calls WHERE path = 'use.ts' ORDER BY ALL")
    assert sorted((callee.rpartition("`")[0].rpartition("`")[2], caller.rpartition("/")[2], line) for callee, caller, line in found) == [
        ("alone.ts", "all().", 9),
        ("arrow.ts", "all().", 9),
        ("arrow.ts", "all().", 9),
        ("made.js", "all().", 7),
    ]
    assert all("default" in callee for callee, _, _ in found)
    tables = "SELECT DISTINCT symbol FROM occurrences WHERE path = 'use.ts' AND name = 'table'"
    assert [symbol.rpartition("/")[2] for (symbol,) in rows(generation(root), tables)] == ["default."]
    modules = "SELECT DISTINCT target_path, target_line FROM occurrences WHERE path = 'use.ts' AND name = 'arrow'"
    assert rows(generation(root), modules) == [("arrow.ts", 0)]


def test_a_class_that_is_a_module_has_its_uses_and_what_lies_below_it(service: Service) -> None:
    below = service.ask("hierarchy", {"symbol": "koa.Application", "direction": "subtypes"}).result
    assert [found.symbol.qualified_name for found in below] == ["runs.Custom"]
    called = service.ask("callers", {"symbol": "koa.Application"}).result
    assert [(edge.symbol.qualified_name, edge.sites[0].line) for edge in called] == [("runs", 2)]


def test_a_variable_that_holds_a_required_module_means_what_that_is(service: Service) -> None:
    """Its uses lead to the module's function, so that nothing would be found of the variable itself."""
    answer = service.ask("callers", {"symbol": "koa.cjs:5:7"})
    assert answer.query["resolved"]["qualified_name"] == "whole.session"
    assert {edge.symbol.qualified_name for edge in answer.result} == {"koa.Application.start", "use.start"}
    assert service.ask("references", {"symbol": "koa.cjs:5:7"}).query["resolved"]["qualified_name"] == "whole.session"
    assert service.ask("callers", {"symbol": "koa.cjs"}).query["resolved"]["qualified_name"] == "koa.Application"


def test_a_function_that_is_a_module_has_its_callers(root: Path) -> None:
    found = rows(generation(root), "SELECT callee, caller FROM calls WHERE path = 'use.cjs' AND callee LIKE '%session%'")
    assert [(callee.rpartition("/")[2], caller.rpartition("/")[2]) for callee, caller in found] == [("session().", "start().")]


def test_the_caller_is_the_function_that_is_given_and_not_the_file(service: Service) -> None:
    answer = service.ask("callers", {"symbol": "lib.helper"})
    assert [edge.symbol.qualified_name for edge in answer.result] == ["app.app.render", "app.executor", "arrow.default", "table"]
    assert [reason.code for reason in answer.completeness.reasons] == ["escapes"]  # `table` gets it as a value
    assert "app" not in {found.symbol.qualified_name for found in service.ask("unreferenced", {}).result}


@pytest.mark.parametrize(("symbol", "new_name", "why"), [("arrow.default", "sized", "default"), ("short.exports", "brief", "exports")])
def test_what_the_language_names_itself_is_not_renamed(service: Service, symbol: str, new_name: str, why: str) -> None:
    with pytest.raises(EditRefused, match=f"'{why}' at .* cannot be renamed: .* gives this name its meaning"):
        service.ask("rename_symbol", {"symbol": symbol, "new_name": new_name})


def test_a_reserved_word_is_no_new_name(service: Service) -> None:
    with pytest.raises(UsageError, match="'class' is a keyword of Typescript"):
        service.ask("rename_symbol", {"symbol": "lib.helper", "new_name": "class"})


@pytest.mark.parametrize(("asked", "meant"), [("arrow", "arrow.default"), ("made.js", "made.default"), ("lib", "lib")])
def test_who_asks_for_the_callers_of_a_module_means_what_it_exports(service: Service, asked: str, meant: str) -> None:
    """Nothing calls a module: without a default export that has no name there is no other answer."""
    answer = service.ask("callers", {"symbol": asked})
    assert answer.query["resolved"]["qualified_name"] == meant
    assert bool(answer.result) == (meant != asked)


def test_what_is_given_to_a_check_is_not_called_by_it(root: Path) -> None:
    """`expect(Component).toBeDefined()` runs nothing (zustand); what a timer is given, it runs."""
    with open_index(root) as index:
        found = index.rows(
            "SELECT s.name, c.line, c.evidence FROM calls c JOIN symbols s ON s.symbol = c.callee"
            " WHERE c.path = 'checks.ts' AND s.name IN ('local', 'shown') ORDER BY c.line"
        )
    assert [(name, line, "inferred" if evidence == "inferred" else "told") for name, line, evidence in found] == [
        ("shown", 3, "told"),
        ("shown", 6, "inferred"),
    ]
