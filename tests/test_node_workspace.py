"""npm workspaces: which packages there are, which sources their names stand for, and what a TypeScript server is told of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from live_support import workspace as live_workspace
from support import Watcher, rows, write_tree
from toolchains import requires

from indexer import node_project, tsconfig
from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.node_workspace import NodeWorkspace, is_another
from indexer.prerequisites import fetched_dir, fetched_folder, node
from indexer.servers.installed import servers_dir

NOWHERE = Path("/nonexistent")


def workspace(root: Path, files: dict[str, str]) -> NodeWorkspace:
    return NodeWorkspace(write_tree(root, files), list(files))


def package(name: str, **more: Any) -> str:
    return json.dumps({"name": name, "version": "1.0.0", **more})


def told(root: Path, files: dict[str, str], fetched: Path = NOWHERE) -> dict[str, dict[str, Any]]:
    """Project files as the server is told them, by path."""
    return {item.path: json.loads(item.text) for item in node_project.overlays(write_tree(root, files), list(files), fetched)}


def test_exports_that_name_what_a_build_would_write_lead_to_the_sources(tmp_path: Path) -> None:
    """Conditions, entries below the package, patterns; a condition of the project's own comes first."""
    made = workspace(
        tmp_path,
        {
            "package.json": package("root", private=True, workspaces=["packages/*"]),
            "packages/server/package.json": package(
                "@t/server",
                exports={
                    ".": {"import": {"types": "./dist/index.d.mts", "default": "./dist/index.mjs"}, "require": "./dist/index.cjs"},
                    "./adapters/next": {"types": "./dist/adapters/next/index.d.ts"},
                    "./locales/*": "./dist/locales/*.js",
                    "./hidden": None,
                    "./package.json": "./package.json",
                },
            ),
            "packages/server/src/index.ts": "",
            "packages/server/src/adapters/next/index.ts": "",
            "packages/server/src/locales/de.ts": "",
            "packages/core/package.json": package("core", exports={".": {"types": "./index.d.ts", "@core/source": "./lib/all.ts"}}),
            "packages/core/index.d.ts": "",
            "packages/core/lib/all.ts": "",
        },
    )
    assert made.paths() == {
        "@t/server": ["packages/server/src/index.ts"],
        "@t/server/adapters/next": ["packages/server/src/adapters/next/index.ts"],
        "@t/server/locales/*": ["packages/server/src/locales/*"],
        "core": ["packages/core/lib/all.ts"],
    }


@pytest.mark.parametrize(
    ("manifest", "files", "source"),
    [
        ({"main": "dist/index.js"}, {"src/index.ts": ""}, "src/index.ts"),
        ({"types": "build/types/main.d.ts"}, {"src/main.tsx": "", "src/other.ts": ""}, "src/main.tsx"),
        ({"main": "index.js"}, {"index.js": "module.exports = require('./dist/a.cjs.js')", "src/index.ts": ""}, "src/index.ts"),
        ({"main": "index.js"}, {"index.js": ""}, "index.js"),
        (
            {"main": "lib/a.js"},
            {"tsconfig.json": '{"compilerOptions": {"outDir": "lib", "rootDir": "code"}}', "code/a.ts": ""},
            "code/a.ts",
        ),
        ({"main": "dist/out.js"}, {"tsup.config.ts": "export default { entry: ['code/begin.ts'] }", "code/begin.ts": ""}, "code/begin.ts"),
        ({"main": "dist/vue.cjs.prod.js"}, {"src/vue.ts": ""}, "src/vue.ts"),
        ({"main": "dist/index.js"}, {"notes.md": ""}, ""),
    ],
    ids=["main", "types", "a-script-that-picks", "a-script", "outDir", "bundler", "variants", "nothing"],
)
def test_a_package_without_exports_is_found_by(tmp_path: Path, manifest: dict[str, str], files: dict[str, str], source: str) -> None:
    """Its other fields, the folders that tsconfig writes to, a bundler's entry, or convention."""
    made = workspace(tmp_path, {"package.json": package("one", **manifest), **files})
    assert made.paths().get("one", [""]) == [source]


@pytest.mark.parametrize(
    "says",
    [
        {"package.json": package("root", private=True, workspaces=["packages/**", "!**/left"])},
        {"package.json": package("root", private=True, workspaces={"packages": ["packages/{one,two}"]})},
        {
            "package.json": package("root", private=True),
            "pnpm-workspace.yaml": "packages:\n  # all of them\n  - 'packages/*'\n  - '!packages/left'\n",
        },
        {"package.json": package("root", private=True), "lerna.json": '{"packages": ["packages/one", "packages/two"]}'},
    ],
    ids=["npm", "yarn", "pnpm", "lerna"],
)
def test_a_workspace_says_which_folders_are_packages(tmp_path: Path, says: dict[str, str]) -> None:
    made = workspace(
        tmp_path,
        {
            **says,
            "packages/one/package.json": package("one"),
            "packages/two/package.json": package("two"),
            "packages/left/package.json": package("react"),
        },
    )
    assert {name: item.folder for name, item in made.packages.items()} == {"one": "packages/one", "two": "packages/two"}


def test_names_that_may_mean_something_else_stand_for_nothing(tmp_path: Path) -> None:
    """A private root called as a published package, an application that nobody depends on, two packages of one name, fixtures."""
    made = workspace(
        tmp_path,
        {
            "package.json": package("langfuse", private=True, workspaces=["packages/*"], dependencies={"react": "^19", "langfuse": "^3"}),
            "packages/web/package.json": package("web", private=True, dependencies={"local": "workspace:*"}),
            "packages/a/package.json": package("twice"),
            "packages/b/package.json": package("twice"),
            "packages/local/package.json": package("local", private=True),
            "fixtures/react/package.json": package("react"),
        },
    )
    assert list(made.packages) == ["local"]


def test_without_a_workspace_a_package_counts_that_another_one_asks_for(tmp_path: Path) -> None:
    made = workspace(
        tmp_path,
        {
            "app/package.json": package("app", dependencies={"lib": "1.0.0", "react": "1.0.0", "linked": "file:../odd/fixtures/linked"}),
            "lib/package.json": package("lib"),
            "tests/react/package.json": package("react"),
            "odd/fixtures/linked/package.json": package("linked"),
        },
    )
    assert sorted(made.packages) == ["lib", "linked"]


@pytest.mark.parametrize(
    ("specifier", "another"),
    [
        ("workspace:*", False), ("^4.1.0", False), ("*", False), (">=3", False), ("^3.25.0 || ^4.0.0", False), ("npm:zod@next", False),
        ("^3.2.0", True), ("3.x", True), ("~3", True), ("npm:zod@3.24.1", True),
    ],
)  # fmt: skip
def test_another_major_version_is_another_package(specifier: str, another: bool) -> None:
    assert is_another(specifier, "4.1.0") is another


def test_a_consumer_of_another_version_is_not_led_to_the_sources(tmp_path: Path) -> None:
    files = {
        "package.json": package("root", private=True, workspaces=["*"]),
        "zod/package.json": json.dumps({"name": "zod", "version": "4.0.1", "main": "index.ts"}),
        "zod/index.ts": "",
        "old/package.json": package("old", dependencies={"zod": "^3.0.0"}),
        "old/tsconfig.json": "{}",
        "new/package.json": package("new", dependencies={"zod": "^4.0.0"}),
        "new/tsconfig.json": "{}",
    }
    found = told(tmp_path, files)
    assert "zod" in found["new/tsconfig.json"]["compilerOptions"]["paths"]
    assert "zod" not in found["old/tsconfig.json"]["compilerOptions"]["paths"]


def test_project_files_keep_what_they_say_and_gain_what_they_lack(tmp_path: Path) -> None:
    """Comments, own paths that work, inherited ones, `baseUrl` that TypeScript 7 dropped, and `extends` of a package beside it."""
    files = {
        "package.json": package("root", private=True, workspaces=["packages/*"]),
        "packages/config/package.json": package("@t/config"),
        "packages/config/base.json": '{"compilerOptions": {"strict": true}}',
        "packages/lib/package.json": package("@t/lib", exports={".": "./dist/index.js", "./deep": "./dist/deep.js"}),
        "packages/lib/src/index.ts": "",
        "packages/lib/src/deep.ts": "",
        "tsconfig.base.json": '{\n  // all\n  "compilerOptions": {"paths": {"@t/lib": ["./packages/lib/src"],},},\n}',
        "packages/app/package.json": package("@t/app", dependencies={"@t/lib": "workspace:*"}),
        "packages/app/tsconfig.json": '{"extends": "../../tsconfig.base.json", "compilerOptions": {"types": ["node"], "baseUrl": "."}}',
        "packages/web/package.json": package("@t/web", private=True),
        "packages/web/tsconfig.json": '{"extends": "@t/config/base.json"}',
    }
    found = told(tmp_path, files)
    app = found["packages/app/tsconfig.json"]
    assert app["extends"] == "../../tsconfig.base.json"
    assert app["compilerOptions"]["paths"]["@t/lib/deep"] == ["../lib/src/deep.ts"]
    assert app["compilerOptions"]["paths"]["*"] == ["./*"]
    assert app["compilerOptions"]["types"] == ["node"]
    assert found["packages/web/tsconfig.json"]["extends"] == "../config/base.json"
    assert found["packages/web/tsconfig.json"]["compilerOptions"]["paths"]["@t/lib"] == ["../lib/src/index.ts"]
    assert found["tsconfig.base.json"]["compilerOptions"]["paths"]["@t/lib"] == ["./packages/lib/src"], "what works is left alone"


def test_nothing_is_told_where_the_project_files_say_it_all(tmp_path: Path) -> None:
    files = {"package.json": package("one", main="index.js"), "tsconfig.json": "{}", "a.ts": "export {}\n"}
    assert told(tmp_path, {**files, "package.json": package("one", private=True)}) == {}


def test_modules_that_a_project_file_leaves_out_are_taken_in(tmp_path: Path) -> None:
    """Tests beside `src`; not scripts and declarations, whose names would hold for the whole project, and not what a reference has."""
    files = {
        "tsconfig.json": '{"include": ["src"], "references": [{"path": "./tsconfig.node.json"}]}',
        "tsconfig.node.json": '{"include": ["vite.config.ts"]}',
        "vite.config.ts": "export default {}\n",
        "src/a.ts": "export const a = 1\n",
        "test/a.test.ts": 'import { a } from "../src/a"\n',
        "test/global.ts": "const a = 2\n",
        "test/shims.d.ts": 'declare module "x" {\n  export const y: number\n}\n',
        "inner/tsconfig.json": "{}",
        "inner/b.ts": "export const b = 1\n",
    }
    found = told(tmp_path, files)
    assert {path: text.get("files") for path, text in found.items()} == {"tsconfig.json": ["./test/a.test.ts"]}
    assert found["tsconfig.json"]["include"] == ["src"]


SCRIPT = "const fs = require('fs');\nexports.a = 1;\n"


def test_scripts_without_a_project_file_get_one_for_their_package(tmp_path: Path) -> None:
    """With what was fetched for that package; what is no module stays alone, since its names would hold for all files.

    A test that imports nothing is a module to that project: its names are its own.
    """
    fetched = write_tree(
        tmp_path / "fetched",
        {
            ".types/node_modules/@types/node/package.json": package("@types/node", types="index.d.ts"),
            ".types/node_modules/@types/mocha/package.json": package("@types/mocha", types="index.d.ts"),
            ".types/node_modules/@types/koa/package.json": package("@types/koa", types="index.d.ts"),
            ".types/node_modules/@types/koa/index.d.ts": "",
            "node_modules/koa/package.json": package("koa", main="index.js"),
        },
    )
    files = {
        "package.json": package("root", dependencies={"koa": "^2"}, devDependencies={"mocha": "^11"}),
        "lib/a.js": SCRIPT,
        "site.js": "var a = 1;\n",
        "test/global.js": "var a = 1;\n",
        "examples/one/package.json": package("one"),
        "examples/one/b.mjs": "import 'koa';\n",
        "site/package.json": package("site"),
        "site/tsconfig.json": "{}",
        "site/c.ts": "export {}\n",
    }
    found = told(tmp_path / "work", files, fetched)
    assert {path: text.get("files") for path, text in found.items() if path != "site/tsconfig.json"} == {
        "tsconfig.json": ["./lib/a.js", "./test/global.js"],
        "examples/one/tsconfig.json": ["./b.mjs"],
    }
    options = found["tsconfig.json"]["compilerOptions"]
    assert (options["allowJs"], options["checkJs"], options["moduleDetection"]) == (True, False, "force")
    assert options["types"] == ["mocha", "node"], "@types/koa declares nothing that is not imported"
    assert options["paths"]["koa"] == [f"{fetched}/.types/node_modules/@types/koa/index.d.ts"]
    assert options["typeRoots"][0] == f"{fetched}/.types/node_modules/@types"


def test_types_that_were_fetched_do_not_stand_before_those_that_the_clone_has(tmp_path: Path) -> None:
    """The clone was installed later, with a version of the package that declares itself."""
    fetched = write_tree(
        tmp_path / "fetched", {".types/node_modules/@types/koa/index.d.ts": "", ".types/node_modules/@types/koa/package.json": "{}"}
    )
    files = {"package.json": package("root", dependencies={"koa": "^3"}), "a.js": SCRIPT}
    write_tree(
        tmp_path / "clone",
        {
            "node_modules/koa/package.json": package("koa", types="index.d.ts"),
            "node_modules/koa/index.d.ts": "",
            "node_modules/@types/own/index.d.ts": "",
        },
    )
    options = told(tmp_path / "clone", files, fetched)["tsconfig.json"]["compilerOptions"]
    assert "koa" not in options.get("paths", {})
    assert options["types"] == ["own"]
    assert options["typeRoots"][0] == f"{tmp_path}/clone/node_modules/@types", "types of its own stay"


def test_scripts_beside_a_project_file_of_typescript_have_a_project_of_their_own(tmp_path: Path) -> None:
    """Where there are many: its library, modules and types are not theirs. Types that it names by word hold for them, too."""
    files = {
        "package.json": package("root"),
        "tsconfig.json": '{"compilerOptions": {"types": ["vitest/globals"], "module": "node16"}, "references": [{"path": "./x"}]}',
        "src/a.ts": "export {}\n",
        "inner/package.json": package("inner"),
        "inner/b.js": SCRIPT,
        "test/helpers.js": "function shared() {}\n",
        **{f"test/{number}.js": SCRIPT for number in range(tsconfig.PROJECT_OF_THEIR_OWN)},
    }
    found = told(tmp_path, files)
    [place] = [path for path in found if path not in ("tsconfig.json", "inner/tsconfig.json")]
    assert found["tsconfig.json"]["references"] == [{"path": "./x"}, {"path": f"./{place}"}]
    assert "files" not in found["tsconfig.json"]
    assert len(found[place]["files"]) == tsconfig.PROJECT_OF_THEIR_OWN + 1, "its names hold for the other tests"
    assert "vitest/globals" in found[place]["compilerOptions"]["types"]
    assert found["inner/tsconfig.json"]["files"] == ["./b.js"]
    del files["test/0.js"]
    (tmp_path / "test/0.js").unlink()
    assert len(told(tmp_path, files)["tsconfig.json"]["files"]) == tsconfig.PROJECT_OF_THEIR_OWN - 1, "few are taken in"
    files["tsconfig.json"] = '{"compilerOptions": {"allowJs": true}, "include": ["src"]}'
    assert set(told(tmp_path, {**files, "test/0.js": SCRIPT})) == {"tsconfig.json", "inner/tsconfig.json"}, "it is about scripts, too"


@pytest.mark.parametrize(
    ("raw", "path", "takes"),
    [
        ({}, "a/b.ts", True),
        ({}, "node_modules/x/b.ts", False),
        ({}, ".hidden/b.ts", False),
        ({"include": ["src"]}, "src/deep/b.ts", True),
        ({"include": ["src"]}, "srcs/b.ts", False),
        ({"include": ["src/*"]}, "src/deep/b.ts", False),
        ({"include": ["**/*.mts"]}, "a/b.mts", True),
        ({"include": ["packages/*/src"]}, "packages/x/src/y/b.ts", True),
        ({"include": ["src"], "exclude": ["**/*.test.ts"]}, "src/deep/b.test.ts", False),
        ({"include": ["."], "exclude": ["dist"]}, "dist/deep/b.ts", False),
        ({"include": ["."]}, "deep/b.ts", True),
        ({"files": ["./b.ts"]}, "b.ts", True),
        ({"files": ["./b.ts"]}, "c.ts", False),
    ],
)
def test_include_and_exclude_mean_what_typescript_takes_them_for(raw: dict[str, Any], path: str, takes: bool) -> None:
    assert tsconfig.Extent(raw).takes(path) is takes


def test_a_closed_project_can_tell_its_files_without_loading() -> None:
    assert json.loads(tsconfig.closed('{"include": ["src"]}'))["compilerOptions"] == {"composite": True}
    assert json.loads(tsconfig.closed('{"files": ["a.ts"]}')) == {"files": ["a.ts"]}, "what a.ts imports is of the project too"


def test_what_was_fetched_is_found_by_every_folder_that_asks_for_it(tmp_path: Path) -> None:
    """Declarations of the package, of `@types`, entries of `exports`, each by the version that the folder has; globals by name."""
    fetched = write_tree(
        tmp_path / "fetched",
        {
            "node_modules/react/package.json": package("react", main="index.js"),
            "node_modules/react/index.js": "",
            "node_modules/@types/react/package.json": package(
                "@types/react", exports={".": {"types": "./index.d.ts"}, "./jsx": "./jsx.d.ts"}
            ),
            "node_modules/@types/react/index.d.ts": "",
            "node_modules/@types/react/jsx.d.ts": "",
            "app/node_modules/zod/package.json": package("zod", exports={".": {"import": "./index.mjs"}, "./*": {"types": "./*.d.ts"}}),
            "app/node_modules/zod/index.mjs": "",
            "app/node_modules/zod/index.d.mts": "",
        },
    )
    files = {
        "package.json": package("root", private=True, workspaces=["app"], devDependencies={"react": "^1", "@types/react": "^1"}),
        "tsconfig.json": "{}",
        "app/package.json": package("app", dependencies={"zod": "^1"}),
        "app/tsconfig.json": "{}",
    }
    options = told(tmp_path / "work", files, fetched)["app/tsconfig.json"]["compilerOptions"]
    place = str(fetched)
    assert options["paths"]["react"] == [f"{place}/node_modules/@types/react/index.d.ts"]
    assert options["paths"]["react/jsx"] == [f"{place}/node_modules/@types/react/jsx.d.ts"]
    assert options["paths"]["zod"] == [f"{place}/app/node_modules/zod/index.d.mts"]
    assert options["paths"]["zod/*"] == [f"{place}/app/node_modules/zod/*.d.ts"]
    assert options["types"] == ["react"]
    assert "zod" not in told(tmp_path / "work", files, fetched)["tsconfig.json"]["compilerOptions"]["paths"]


CLONE = {
    "package.json": package("root", private=True, workspaces=["packages/*"]),
    "packages/server/package.json": package("@t/server", exports={".": "./dist/index.js", "./deep": "./dist/deep/index.js"}),
    "packages/server/tsconfig.json": '{"include": ["src"]}',
    "packages/server/src/index.ts": "export class Box {\n  open(): number {\n    return 1;\n  }\n}\n",
    "packages/server/src/deep/index.ts": "export function dig(): number {\n  return 2;\n}\n",
    "packages/client/package.json": package("@t/client", dependencies={"@t/server": "workspace:*"}),
    "packages/client/tsconfig.json": '{"include": ["src"]}',
    "packages/client/src/main.ts": "import { Box } from '@t/server';\nexport function use(): number {\n  return new Box().open();\n}\n",
    "packages/client/test/a.test.ts": "import { dig } from '@t/server/deep';\nexport function check(): number {\n  return dig();\n}\n",
}


def test_packages_of_a_clone_join_without_an_installation(tmp_path: Path) -> None:
    """By name, below a package, from a test that no project file takes in; and the clone is not written to."""
    requires("ts7")
    root = write_tree(tmp_path / "work", CLONE)
    done = crawl(root, Config(jobs=1), Watcher())
    assert done.manifest["lost"] == {}
    calls = rows(done.generation, "SELECT caller, callee FROM calls ORDER BY 1, 2")
    missing = rows(done.generation, "SELECT count(*) FROM unresolved_import")
    assert any("use" in caller and "open" in callee for caller, callee in calls), calls
    assert any("check" in caller and "dig" in callee for caller, callee in calls), calls
    assert missing == [(0,)]
    assert sorted(
        path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file() and ".lspidx" not in path.parts
    ) == sorted(CLONE)


def test_tests_for_a_browser_that_import_nothing_have_a_project_of_their_own(tmp_path: Path) -> None:
    """Chart.js: its project file is about `src`, and what `describe` and `expect` are comes from types; helpers of two tests are two."""
    files = {
        "package.json": package("root"),
        "tsconfig.json": '{"compilerOptions": {"allowJs": true, "types": ["jasmine"]}, "include": ["src"]}',
        "src/a.js": "export const a = 1;\n",
        "src/plain.js": "var plain = 1;\n",
        "demo.js": "var demo = 1;\n",
        **{f"test/{number}.js": "function help() {}\ndescribe('a', () => help());\n" for number in range(tsconfig.PROJECT_OF_THEIR_OWN)},
        "test/shims.d.ts": "declare const x: 1;\n",
    }
    found = told(tmp_path, files)
    [place] = [path for path in found if path != "tsconfig.json"]
    assert found["tsconfig.json"]["references"] == [{"path": f"./{place}"}]
    assert found["tsconfig.json"]["include"] == ["src"]
    assert found[place]["files"] == [f"./test/{number}.js" for number in range(tsconfig.PROJECT_OF_THEIR_OWN)]
    assert found[place]["compilerOptions"]["moduleDetection"] == "force"
    assert "jasmine" in found[place]["compilerOptions"]["types"]
    (tmp_path / "test/0.js").unlink()
    del files["test/0.js"]
    assert set(told(tmp_path, files)) == {"tsconfig.json"}, "a further program costs memory"


UNBUILT = {
    "package.json": package("root", private=True, workspaces=["packages/*"]),
    "packages/shop/package.json": package("shop", main="./dist/index.js", types="./dist/index.d.ts", version="1.0.0"),
    "packages/shop/tsconfig.json": '{"compilerOptions": {"outDir": "dist", "rootDir": "lib", "module": "nodenext"}, "include": ["lib"]}',
    "packages/shop/lib/index.ts": "export class Shop {\n  open(): number {\n    return 1;\n  }\n}\n",
    "packages/shop/test/use.ts": 'import { Shop } from "..";\nexport function use() {\n  return new Shop().open();\n}\n',
    "packages/shop/test/deep/use.ts": 'import { Shop } from "../..";\nexport const deep = () => new Shop().open();\n',
    "packages/built/package.json": package("built", main="./index.js", types="./index.d.ts"),
    "packages/built/index.js": "module.exports = 1;\n",
    "packages/built/src/index.ts": "export const a = 1;\n",
}


def test_a_manifest_that_leads_to_what_a_build_writes_leads_to_its_source(tmp_path: Path) -> None:
    """`import ".."` of socket.io's tests follows the manifest, to which `paths` say nothing."""
    found = told(tmp_path, UNBUILT)
    assert {path: text["types"] for path, text in found.items() if path.endswith("package.json")} == {
        "packages/shop/package.json": "./lib/index.ts"
    }
    assert found["packages/shop/package.json"]["version"] == "1.0.0"


def test_the_folder_above_a_test_is_the_package(tmp_path: Path) -> None:
    requires("ts7")
    root = write_tree(tmp_path / "work", UNBUILT)
    done = crawl(root, Config(jobs=1), Watcher())
    assert rows(done.generation, "SELECT path, name FROM occurrences WHERE symbol IS NULL ORDER BY ALL") == []
    calls = rows(done.generation, "SELECT c.path FROM calls c JOIN symbols s ON s.symbol = c.callee WHERE s.name = 'open' ORDER BY ALL")
    assert calls == [("packages/shop/test/deep/use.ts",), ("packages/shop/test/use.ts",)]


def test_globals_of_tests_that_import_nothing_are_known(tmp_path: Path) -> None:
    requires("ts7")
    helper = "function help() {{\n  return shared('{0}');\n}}\ntested('{0}', function () {{\n  help();\n}});\n"
    root = write_tree(
        tmp_path / "work",
        {
            "package.json": package("root"),
            "tsconfig.json": '{"compilerOptions": {"allowJs": true, "types": ["shared"], "typeRoots": ["types"]}, "include": ["src"]}',
            "types/shared/index.d.ts": (
                "declare function tested(name: string, body: () => void): void;\ndeclare function shared(x: string): void;\n"
            ),
            "src/a.js": "export const a = 1;\n",
            **{f"test/{number}.js": helper.format(number) for number in range(tsconfig.PROJECT_OF_THEIR_OWN)},
        },
    )
    done = crawl(root, Config(jobs=1), Watcher())
    assert rows(done.generation, "SELECT path, name FROM occurrences WHERE symbol IS NULL ORDER BY ALL") == []
    calls = rows(done.generation, "SELECT c.path, s.path, s.name FROM calls c JOIN symbols s ON s.symbol = c.callee ORDER BY ALL")
    own = [(path, there) for path, there, name in calls if name == "help"]
    assert own == [(f"test/{number}.js", f"test/{number}.js") for number in range(tsconfig.PROJECT_OF_THEIR_OWN)]


def test_scripts_know_each_other_and_the_types_that_were_brought(tmp_path: Path) -> None:
    """A clone of JavaScript alone: members of what a module exports, of node's own, and globals of tests."""
    requires("ts7")
    servers = tmp_path / "machine" / "servers"
    servers.parent.mkdir()
    servers.symlink_to(servers_dir(), target_is_directory=True)
    environment = {**os.environ, "LSPIDX_SERVERS_DIR": str(servers)}
    root = write_tree(
        tmp_path / "work",
        {
            "package.json": package("app", dependencies={"thing": "^1"}, devDependencies={"mocha": "^11"}),
            "lib/app.js": "const thing = require('thing');\nexports.start = function start() {\n  return thing.make().run();\n};\n",
            "test/app.test.js": "const app = require('../lib/app');\nit('starts', () => {\n  app.start();\n});\n",
        },
    )
    write_tree(
        fetched_folder(fetched_dir(environment), root) / node.FOLDER / ".types",
        {
            "node_modules/@types/node/package.json": package("@types/node", types="index.d.ts"),
            "node_modules/@types/node/index.d.ts": "declare var require: (id: string) => any;\n",
            "node_modules/@types/mocha/package.json": package("@types/mocha", types="index.d.ts"),
            "node_modules/@types/mocha/index.d.ts": "declare function it(name: string, body: () => void): void;\n",
            "node_modules/@types/thing/package.json": package("@types/thing", types="index.d.ts"),
            "node_modules/@types/thing/index.d.ts": "export interface Made { run(): number }\nexport function make(): Made;\n",
        },
    )
    done = crawl(root, Config(jobs=1), Watcher(), environment=environment)
    unresolved = rows(done.generation, "SELECT name FROM occurrences WHERE symbol IS NULL ORDER BY 1")
    assert unresolved == []
    calls = rows(done.generation, "SELECT s.name FROM calls c JOIN symbols s ON s.symbol = c.callee ORDER BY c.path, c.line, c.col")
    # `start` twice: the server names the function by its own name, and what the module exports is followed to
    assert [name for (name,) in calls if name != "require"] == ["make", "run", "it", "start"]
    assert rows(done.generation, "SELECT count(*) FROM diagnostics") == [(0,)]
    assert not (root / "tsconfig.json").exists()


def test_a_warm_server_knows_the_workspace_and_what_its_manifests_say_by_now(tmp_path: Path) -> None:
    """A live question is led as a crawl is; a package that gets an entry is known to have it at the next question."""
    requires("ts7")
    root = write_tree(tmp_path / "work", CLONE)

    def target(line: int, column: int) -> list[str]:
        position = {"line": line, "character": column}
        place = {"textDocument": {"uri": (root / "packages/client/src/main.ts").as_uri()}, "position": position}
        reply = live.host.ask("packages/client/src/main.ts", "textDocument/definition", place)
        return [(one.get("targetUri") or one["uri"]).removeprefix(root.as_uri()) for one in reply.result or []]

    with live_workspace(root) as live:
        assert target(2, 20) == ["/packages/server/src/index.ts"]
        manifest = json.loads(CLONE["packages/server/package.json"])
        manifest["exports"]["./more"] = "./dist/more.js"
        changed = {
            "packages/server/package.json": json.dumps(manifest),
            "packages/server/src/more.ts": "export const more = 3;\n",
            "packages/client/src/main.ts": "import { more } from '@t/server/more';\nexport const three = more;\n",
        }
        write_tree(root, changed)
        assert target(1, 22) == ["/packages/server/src/more.ts"]


def test_what_a_warm_server_is_told_of_project_files_outlives_their_being_written_in_the_same_moment(tmp_path: Path) -> None:
    """A project file with the time that it had is no reason to let the server read it: another text holds in its place."""
    requires("ts7")
    root = write_tree(tmp_path / "work", CLONE)
    main, project = root / "packages/client/src/main.ts", root / "packages/client/tsconfig.json"
    os.utime(project, ns=(1_700_000_000_000_000_000,) * 2)
    place = {"textDocument": {"uri": main.as_uri()}, "position": {"line": 2, "character": 20}}
    with live_workspace(root) as live:
        for _ in range(3):
            reply = live.host.ask("packages/client/src/main.ts", "textDocument/definition", place)
            assert [one["targetUri"] for one in reply.result] == [(root / "packages/server/src/index.ts").as_uri()]
            project.write_text(CLONE["packages/client/tsconfig.json"])
            os.utime(project, ns=(1_700_000_000_000_000_000,) * 2)
