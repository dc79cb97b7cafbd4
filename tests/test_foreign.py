"""What is not the project's: vendored, generated, minified, bundled and built files, each beside one that looks like it and is."""

from __future__ import annotations

import random
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from query_support import report_text
from support import crawl_with_ty, rows, write_tree

from indexer import vcs
from indexer.config import Config, LanguageConfig
from indexer.crawl.plan.foreign import is_minified, is_signed, table
from indexer.crawl.plan.survey import Survey, survey
from indexer.errors import UsageError
from indexer.model import FOREIGN, SkipReason
from indexer.patterns import matches
from indexer.servers.registry import load_table
from indexer.text import word_digest, word_digests
from query.facts.completeness import DEFINITION, Certificate
from query.facts.gaps import causes
from query.facts.index import open_index
from query.facts.names import document_path
from query.facts.status import status
from query.surface.registry import call

LANGUAGES = frozenset(name for name, spec in load_table().language.items() if spec.crawl == "full")
MIT = "MIT License\n\nCopyright (c) Somebody Else\n"
BUNDLE = "(()=>{var a=require('b');" + "function f(x){return x+1};var y=f(2);" * 400 + "})();\n"
ESBUILD = "var __create = Object.create;\nvar __defProp = Object.defineProperty;\n" + "function g() {\n  return 1;\n}\n" * 20


def look(root: Path, **settings: Any) -> Survey:
    config = Config(**settings)
    return survey(root, vcs.list_files(root, config.include), config, languages=LANGUAGES)


def reasons(root: Path, **settings: Any) -> dict[str, str]:
    return {item.path: str(item.reason) for item in look(root, **settings).skipped}


def documents(root: Path, **settings: Any) -> list[str]:
    return [item.path for item in look(root, **settings).documents]


def git(folder: Path, *words: str) -> None:
    options = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *options, *words], cwd=folder, capture_output=True, check=True)


# ---- by path


def test_yarns_own_bundle_is_not_the_projects(tmp_path: Path) -> None:
    """283,807 of redux's 297,871 occurrences were of this one file."""
    root = write_tree(tmp_path, {".yarn/releases/yarn-4.1.0.cjs": BUNDLE, "src/index.ts": "export const a = 1;\n", ".yarn.js": ""})
    git(root, "init", "-q")
    assert reasons(root) == {".yarn/releases/yarn-4.1.0.cjs": "vendored"}
    assert documents(root) == [".yarn.js", "src/index.ts"]


@pytest.mark.parametrize(
    ("marker", "path"),
    [
        ("vendor/modules.txt", "vendor/example.org/a/a.go"),
        ("lib/third/.cargo-checksum.json", "lib/third/src/lib.rs"),
        ("app/vendor/autoload.php", "app/vendor/acme/A.php"),
        ("env39/pyvenv.cfg", "env39/lib/python3.9/x.py"),
    ],
)
def test_what_a_package_manager_has_listed_is_vendored(tmp_path: Path, marker: str, path: str) -> None:
    """Its own list beside the files is the evidence; without it the folder is the project's."""
    root = write_tree(tmp_path, {path: ""})
    git(root, "init", "-q")
    assert path not in reasons(root)
    write_tree(root, {marker: ""})
    assert reasons(root)[path] == "vendored"


@pytest.mark.parametrize("folder", ["vendor", "vendors", "external", "deps", "src/dependencies", "third_party"])
def test_a_folder_with_two_meanings_needs_a_foreign_licence(tmp_path: Path, folder: str) -> None:
    """A marketplace calls its sellers vendors, FastAPI's users call a package deps: without a licence of others it is theirs."""
    root = write_tree(tmp_path, {f"{folder}/shop/a.py": "", "LICENSE": "ours"})
    assert reasons(root) == {}
    write_tree(root, {f"{folder}/shop/LICENSE": "  ours\n"})
    assert reasons(root) == {}, "a copy of the repository's own licence is no evidence"
    write_tree(root, {f"{folder}/other/LICENSE.txt": MIT})
    assert reasons(root) == {f"{folder}/shop/a.py": "vendored"}


def test_a_package_that_is_called_vendor_keeps_its_licence(tmp_path: Path) -> None:
    """A manifest beside the licence makes the folder a package of this repository."""
    files = {"packages/vendor/LICENSE": MIT, "packages/vendor/package.json": "{}", "packages/vendor/index.ts": ""}
    assert reasons(write_tree(tmp_path, files)) == {}


def test_a_source_that_is_called_license_is_no_licence(tmp_path: Path) -> None:
    assert reasons(write_tree(tmp_path, {"vendor/license.ts": "export class License {}\n", "vendor/copyright.py": ""})) == {}


def test_third_party_is_a_convention_in_c_alone(tmp_path: Path) -> None:
    """There single headers are copied without licences; elsewhere it is a product's word."""
    root = write_tree(tmp_path, {"src/third_party/a.h": "", "src/third_party/b.c": "", "src/third_party/login.ts": ""})
    assert reasons(root) == {"src/third_party/a.h": "vendored", "src/third_party/b.c": "vendored"}


def test_every_row_of_the_table_says_why_and_its_names_are_found(tmp_path: Path) -> None:
    """Each name of each folder that needs no evidence, as a real tree."""
    for number, row in enumerate(table().folder):
        assert len(row.why) > 10
        if row.evidence == "name" and row.reason in FOREIGN:
            for name in row.names:
                ending = {"c": "c", "ruby": "rb"}.get(row.languages[0] if row.languages else "", "py")
                root = write_tree(tmp_path / f"{number}-{name.replace('/', '-')}", {f"pkg/{name}/a.{ending}": "", f"a.{ending}": ""})
                git(root, "init", "-q")
                assert reasons(root) == {f"pkg/{name}/a.{ending}": str(row.reason)}, name


# ---- by attributes, include and exclude


def test_gitattributes_win_in_both_directions(tmp_path: Path) -> None:
    """Also those in a folder below, and against content as against paths; documentation and statistics are no such matter."""
    root = write_tree(
        tmp_path,
        {
            ".gitattributes": ".yarn/** -linguist-vendored\nb.js linguist-generated=false\ndocs/** linguist-documentation\n",
            "src/.gitattributes": "made.py linguist-generated\n*.ts -linguist-detectable\n",
            ".yarn/releases/ours.js": "",
            "b.js": ESBUILD,
            "c.js": ESBUILD,
            "docs/d.py": "",
            "src/made.py": "",
            "src/e.ts": "",
        },
    )
    git(root, "init", "-q")
    assert reasons(root) == {"c.js": "bundled", "src/made.py": "generated"}


def test_include_is_above_everything(tmp_path: Path) -> None:
    """Above paths, content, .gitattributes and `exclude`; for one language too."""
    files = {
        ".gitattributes": "g.py linguist-generated\n",
        "g.py": "",
        "node_modules/a/a.js": ESBUILD,
        "node_modules/b/b.js": "",
        "x/y.py": "",
    }
    root = write_tree(tmp_path, files)
    git(root, "init", "-q")
    assert documents(root, exclude=("x",)) == []
    assert documents(root, exclude=("x",), include=("node_modules/a", "g.py", "x/*.py")) == ["g.py", "node_modules/a/a.js", "x/y.py"]
    assert documents(root, language={"python": LanguageConfig(include=("*",))}) == ["g.py", "x/y.py"]


def test_a_language_that_is_switched_off_is_not_judged(tmp_path: Path) -> None:
    """All of it is left out for one reason, the user's word."""
    root = write_tree(tmp_path, {"a.py": "", "node_modules/a/a.js": "", "b.js": ESBUILD})
    git(root, "init", "-q")
    assert reasons(root, language={"javascript": LanguageConfig(server="none")}) == {}
    made = crawl_with_ty(root, language={"javascript": LanguageConfig(server="none")})
    assert made.manifest["skipped"] == {"excluded": 2}


# ---- by content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (ESBUILD, "bundled"),
        ("/******/ (() => { // webpackBootstrap\n/******/ \tvar __webpack_modules__ = ({\n", "bundled"),
        (
            "/*! banner */\n(function (global, factory) {\n  typeof exports === 'object' && typeof module !== 'undefined' ? factory() :\n",
            "bundled",
        ),
        ('"use strict";\nvar __importDefault = (this && this.__importDefault) || function (mod) {};\n', "built"),
        ("export const a = 1;\n//# sourceMappingURL=a.js.map\n", "built"),
        ("export const a = 1;\n//# sourceMappingURL=data:application/json;base64," + "A" * 3000 + "\n\n", "built"),
        ("/* licence */\n" + BUNDLE, "minified"),
    ],
)
def test_built_scripts_show_it(tmp_path: Path, content: str, reason: str) -> None:
    """Bundlers' loaders, compilers' helpers, source maps, long lines of code."""
    assert reasons(write_tree(tmp_path, {"src/a.js": content})) == {"src/a.js": reason}


@pytest.mark.parametrize(
    "content",
    [
        "const text = `\n" + ESBUILD + "`;\n".replace("\n", "\n  "),
        "const map = '//# sourceMappingURL=a.js.map';\nrun(map);\n",
        "//# sourceMappingURL=a.js.map\nexport const a = 1;\n",
        "export const logo = '" + "iVBORw0KGgo" * 3000 + "';\n",
        "module.exports = [" + '{"name":"a","value":[1,2,3]},' * 500 + "];\n",
        "(function (root, factory) {\n  if (typeof define === 'function' && define.amd) define([], factory);\n})(this, function () {});\n",
        "const a = 1;" * 100 + "\n",
    ],
    ids=["a bundle in a template", "a map in a string", "a map above code", "base64", "json", "umd by hand", "a short line"],
)
def test_what_only_looks_built_is_the_projects(tmp_path: Path, content: str) -> None:
    """Data in long lines, and bundlers' words where they do not stand as bundlers write them."""
    if content.startswith("const text"):
        content = content.replace("\nvar", "\n  var")
    assert reasons(write_tree(tmp_path, {"src/a.js": content})) == {}


def test_long_lines_of_other_languages_are_data(tmp_path: Path) -> None:
    """A test with a rendered page in one line is a test."""
    line = "expected = '" + "f(x); y = (1);" * 1000 + "'\n"
    assert reasons(write_tree(tmp_path, {"tests/test_a.py": line, "tests/a.test.ts": line})) == {}


def test_build_output_is_found_by_most_of_its_files(tmp_path: Path) -> None:
    """Then all scripts of the folder are; `build` with the scripts that build, and `lib` without a `src`, are sources."""
    built = "exports.a = 1;\n//# sourceMappingURL=a.js.map\n"
    compiled = '"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\n'
    files = {
        "dist/a.js": built, "dist/b.js": compiled, "dist/b.d.ts": "export {};\n", "dist/c.js": "exports.c = 1;\n", "dist/tool.py": "",
        "build/build.ts": "run();\n", "build/clean.js": "run();\n", "build/old.min.js": "x",
        "lib/a.js": compiled, "pkg/lib/a.js": compiled, "pkg/src/a.ts": "",
    }  # fmt: skip
    assert reasons(write_tree(tmp_path, files)) == {
        **dict.fromkeys(("dist/a.js", "dist/b.js", "dist/b.d.ts", "dist/c.js", "pkg/lib/a.js"), "built"),
        "build/old.min.js": "minified",
    }


def test_a_script_much_larger_than_all_others_needs_a_bundlers_words(tmp_path: Path) -> None:
    """Size alone says nothing: a project may have one large file of its own."""
    large = "function a() {\n  return 1;\n}\n" * 12_000
    files = {"big.js": large, "small.js": "run();\n" * 100}
    assert reasons(write_tree(tmp_path / "own", files)) == {}
    files["big.js"] += "".join(f"var require_{n} = __commonJS({{}});\n" for n in range(3))
    assert reasons(write_tree(tmp_path / "bundle", files)) == {"big.js": "bundled"}
    files["small.js"] = "run();\n" * 20_000
    assert reasons(write_tree(tmp_path / "even", files)) == {}


# ---- generated sources


@pytest.mark.parametrize(
    ("head", "language"),
    [
        ("// Copyright\n\n//go:build linux\n\n// Code generated by stringer. DO NOT EDIT.\n\npackage a\n", "go"),
        ("# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n", "python"),
        ("/**\n * @generated SignedSource<<abc>>\n */\n", "typescript"),
        ("#ifndef A\n#define A\n/* Automatically generated by x, do not edit. */\n", "c"),
        ("// Generated by the gRPC C++ plugin.\n// If you make any local change, they will be lost.\n", "cpp"),
        ("// DO NOT EDIT: this file is auto-generated\n", "typescript"),
        ("# This file is @generated by PyO3\n", "python"),
    ],
)
def test_generators_sign_in_the_first_comment(head: str, language: str) -> None:
    assert is_signed(head.encode(), language)


@pytest.mark.parametrize(
    ("head", "language"),
    [
        ("# Generated by Django 2.2.1 on 2019-05-24 21:37\n", "python"),
        ("// Generated on Fri Aug 15 2014\nmodule.exports = {};\n", "javascript"),
        ('"""Writes tables. The generated file says: do not edit."""\n', "python"),
        ("x = 1\n# @generated\n", "python"),
        ("const description = 'Generated by create next app. Do not edit';\n", "typescript"),
        ("// see @generated-by and user@generated.org\n", "typescript"),
    ],
)
def test_what_only_speaks_of_generating_is_not_signed(head: str, language: str) -> None:
    """Migrations, settings that were written once, generators themselves, strings."""
    assert not is_signed(head.encode(), language)


PROTO = "# Generated by the protocol buffer compiler.  DO NOT EDIT!\nclass Shop: ...\n"


def test_a_generated_source_that_is_used_is_read(tmp_path: Path) -> None:
    """By an import of its name, by lying in one package with the project's own code, or by a generated source that is used."""
    root = write_tree(
        tmp_path,
        {
            "gen/shop_pb2.py": PROTO,
            "gen/shop_pb2_grpc.py": PROTO + "import shop_pb2\n",
            "gen/unused_pb2.py": PROTO,
            "app.py": "from gen import shop_pb2_grpc\n",
            "own/a_pb2.py": PROTO,
            "own/b.py": "",
            "go/types.go": "// Code generated by x. DO NOT EDIT.\n\npackage go\n",
            "go/own.go": "package go\n",
            "api/client.go": "// Code generated by x. DO NOT EDIT.\n\npackage api\n",
            "nobody/client.go": "// Code generated by x. DO NOT EDIT.\n\npackage nobody\n",
            "main.go": 'package main\n\nimport "example.org/api"\n',
        },
    )
    assert reasons(root) == {"gen/unused_pb2.py": "generated", "nobody/client.go": "generated"}


def test_a_repository_of_generated_clients_is_read(tmp_path: Path) -> None:
    """Where most is generated and nothing uses it, that is what the repository is about."""
    files = {f"services/s{n}/client_{n}.py": PROTO for n in range(60)}
    assert reasons(write_tree(tmp_path, files)) == {}


def test_the_judgement_is_a_function_of_the_tree(tmp_path: Path) -> None:
    """The same whatever the order in which files were written, in whatever folder the repository lies."""
    files: dict[str, str | bytes] = {
        "dist/a.js": "a();\n//# sourceMappingURL=a.js.map\n", "dist/b.js": "b();\n", "gen/a_pb2.py": PROTO, "gen/b_pb2.py": PROTO,
        "vendor/x/LICENSE": MIT, "vendor/x/a.py": "", "vendor/x/b.c": "", "a.py": "import a_pb2\n", "z.min.js": "", "m.js": BUNDLE,
    }  # fmt: skip
    found: list[dict[str, str]] = []
    for number in range(5):
        items = list(files.items())
        random.Random(number).shuffle(items)
        found.append(reasons(write_tree(tmp_path / "vendor" / "dist" / str(number), dict(items))))
    assert all(one == found[0] for one in found)
    assert found[0]["gen/b_pb2.py"] == "generated"
    assert "a.py" not in found[0]


# ---- in an index

SHOP = {
    "shop.py": "from vendor.lib.core import helper\n\n\ndef sell():\n    return helper()\n\n\ndef count():\n    return sell()\n",
    "vendor/lib/core.py": "def helper():\n    return sell\n",
    "vendor/lib/LICENSE": MIT,
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "shop", SHOP)
    git(root, "init", "-q")
    return root


def _codes(root: Path, name: str) -> list[str]:
    with open_index(root) as index:
        return [reason.code for reason in call(index, "references", {"symbol": name}).completeness.reasons]


def test_what_is_used_of_a_file_that_is_left_out_is_known(shop: Path) -> None:
    """As what is used of a dependency: a name, callers, a place under a key; nothing is unresolved for it."""
    made = crawl_with_ty(shop)
    assert made.manifest["skipped"] == {"vendored": 1}
    assert not {"helper", "core"} & {name for (name,) in rows(made.generation, "SELECT name FROM unresolved_name")}
    callers = "SELECT caller, callee FROM calls WHERE callee LIKE '%helper%'"
    assert len(rows(made.generation, callers)) == 1
    sql = "SELECT path, qualified_name FROM symbols WHERE is_external AND name = 'helper'"
    assert rows(made.generation, sql) == [("unread:vendor/lib/core.py", "vendor.lib.core.helper")]


def test_an_index_goes_on_where_files_are_left_out_and_taken_in(shop: Path) -> None:
    """Each step gives the rows that a crawl of everything gives."""
    sql = "SELECT caller, callee, line FROM calls ORDER BY ALL"

    def both(**settings: Any) -> list[tuple[Any, ...]]:
        going_on = rows(crawl_with_ty(shop, **settings).generation, sql)
        assert going_on == rows(crawl_with_ty(shop, full=True, **settings).generation, sql)
        return going_on

    crawl_with_ty(shop)
    first = both(include=("vendor",))
    assert len(both()) == len(first)
    write_tree(shop, {"vendor/lib/core.py": "x = 1\n\n\ndef helper(other=1):\n    return other\n"})
    both()


def test_an_answer_is_partial_for_a_left_out_file_that_has_the_name(shop: Path) -> None:
    """And for no other; the message says how to read it."""
    crawl_with_ty(shop)
    assert _codes(shop, "sell") == ["skipped_vendored"]
    assert _codes(shop, "count") == []
    with open_index(shop) as index:
        assert Certificate(index).of_workspace(DEFINITION).reasons == []
        [reason] = call(index, "references", {"symbol": "sell"}).completeness.reasons
        assert "has the word 'sell'" in reason.detail
        assert "lspidx index --include vendor/lib/core.py" in reason.detail
        with pytest.raises(UsageError, match=r"--include vendor/lib/core\.py"):
            document_path(index, "vendor/lib/core.py")


def test_what_was_not_searched_for_words_is_searched_when_somebody_asks(tmp_path: Path) -> None:
    """A generated source that could not be read as text is searched by its bytes."""
    files = {
        ".gitattributes": "g.py linguist-generated\nh.py linguist-generated\n",
        "g.py": "x = '\0'\nz()\n",
        "h.py": "y = 1\n",
        "a.py": "z = 1\n",
    }
    root = write_tree(tmp_path / "shop", files)
    git(root, "init", "-q")
    assert {item.path: item.words for item in look(root).skipped} == {"g.py": None, "h.py": (word_digest("y"),)}
    crawl_with_ty(root)
    assert _codes(root, "z") == ["skipped_generated"]
    with open_index(root) as index:
        [reason] = call(index, "references", {"symbol": "a.py:1"}).completeness.reasons
    assert reason.paths == ["g.py"]


def test_build_output_makes_no_answer_partial(tmp_path: Path) -> None:
    """It repeats what is read: else every answer of a repository with a `dist` were partial."""
    files = {"shop.py": "def sell(): ...\n", "dist/shop.js": "function sell() {}\n//# sourceMappingURL=shop.js.map\n"}
    root = write_tree(tmp_path / "shop", files)
    made = crawl_with_ty(root)
    assert made.manifest["skipped"] == {"built": 1}
    assert _codes(root, "sell") == []


def test_status_counts_what_is_not_read_in_one_line(shop: Path) -> None:
    """By reason, with the place and what to do."""
    crawl_with_ty(shop)
    with open_index(shop) as index:
        report = status(index)
    assert report["skipped_reasons"] == [{"reason": "vendored", "files": 1, "where": ["vendor/lib/core.py"]}]
    [line] = [line for line in report_text(report).split("\n") if "vendored" in line]
    assert line == "  not read   1 vendored (vendor/lib/core.py); to read some of it: lspidx index --include PATTERN"


def test_words_are_all_that_may_be_identifiers() -> None:
    """In any language and encoding, strings and comments too; sorted, each once."""
    found = word_digests("a1 = größe; // b-c 'd_e' $f a1\n".encode())
    assert found == tuple(sorted(word_digest(word) for word in ("a1", "größe", "b", "c", "d_e", "f")))
    assert word_digests("x\xe4y = zz\n".encode("latin-1"))[0] > 0


def test_a_minified_script_is_told_from_data() -> None:
    assert is_minified(BUNDLE.encode())
    assert not is_minified(b"x = '" + b"QUJD" * 5_000 + b"'\n")
    assert SkipReason.MINIFIED in FOREIGN


def test_what_helps_names_each_file_as_a_pattern_that_fits_it_alone():
    """As a shell takes it; of many files the first few, and how many are left."""
    paths = ["a b.py", "x[1]*.py", "c.py"]
    said = causes.not_read("too_slow", paths)
    assert said.endswith("lspidx index --exclude 'a b.py' --exclude 'x[[]1][*].py' --exclude c.py")
    given = [word for word in shlex.split(said.partition("leave it out: ")[2]) if not word.startswith("-")][2:]
    assert [[path for path in [*paths, "x1y.py"] if matches(path, [pattern])] for pattern in given] == [[path] for path in paths]
    many = causes.not_read("generated", [f"{number}.py" for number in range(8)])
    assert many.endswith("--include 4.py (and so for 3 more, see: lspidx status)")
