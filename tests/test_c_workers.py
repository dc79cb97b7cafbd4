"""A project of C that several clangd crawl together is the same index as one that a single clangd crawls."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
from cache_support import tables
from support import Watcher, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl

pytestmark = pytest.mark.slow

MODULES = 40


def _module(number: int) -> str:
    """Of some 4 kB: it defines what others call, and calls what is defined in files of other units."""
    others = [(number * 7 + step) % MODULES for step in (1, 5, 11, 17)]
    calls = "\n".join(f"    total += turn_{other}(total) + LIMIT(one->weight);" for other in others)
    fill = "\n".join(f"static int step_{number}_{part}(int value) {{ return value + {part}; }}" for part in range(45))
    used = "\n".join(f"    total += step_{number}_{part}(total);" for part in range(45))
    return (
        f'#include "all.h"\n\n{fill}\n\nint turn_{number}(int total) {{\n    struct part *one = part_of({number});\n{calls}\n{used}\n'
        "    return total;\n}\n"
    )


def _tree() -> dict[str, str]:
    declared = "\n".join(f"int turn_{number}(int total);" for number in range(MODULES))
    header = (
        "#ifndef ALL_H\n#define ALL_H\nstruct part { int weight; };\nstruct part *part_of(int number);\n"
        f"#define LIMIT(value) limited(value)\nint limited(int value);\n{declared}\n#endif\n"
    )
    parts = (
        '#include "all.h"\n\nstatic struct part all[64];\nstruct part *part_of(int number) { return &all[number]; }\n'
        "int limited(int value) { return value > 9 ? 9 : value; }\n"
    )
    return {"all.h": header, "parts.c": parts, **{f"m{number:02d}.c": _module(number) for number in range(MODULES)}}


def test_several_workers_make_the_index_that_one_makes(tmp_path: Path) -> None:
    requires("clangd")
    one = write_tree(tmp_path / "one", _tree())
    several = Path(shutil.copytree(one, tmp_path / "several"))
    alone = crawl(one, Config(jobs=1), Watcher(), environment={})
    together = crawl(several, Config(jobs=3), Watcher(), environment={})
    assert (alone.manifest["lost"], together.manifest["lost"]) == ({}, {})
    pids = {line.split("pid=")[1].split()[0] for line in _log(several) if "server ready" in line}
    assert len(pids) > 1, "only one worker had a server"
    assert tables(one) == tables(several)
    with duckdb.connect(str(together.generation), read_only=True) as index:
        [(calls,)] = index.execute("SELECT count(*) FROM calls WHERE callee LIKE '%turn_%' AND caller LIKE '%turn_%'").fetchall()
    assert calls == 4 * MODULES


def _log(root: Path) -> list[str]:
    return (root / ".lspidx" / "log" / "lspidx.log").read_text(encoding="utf-8").splitlines()


def test_a_server_that_answers_a_body_by_its_prototype_does_not_differ(tmp_path: Path) -> None:
    """The sample of targets that are asked again: clangd leads from where a function is defined to where it is declared, and back."""
    requires("clangd")
    files = {
        "all.h": "int far(int value);\n",
        "a.c": (
            '#include "all.h"\n\nint near(int value);\n\nint far(int value) { return near(value); }\n\n'
            "int near(int value) { return value; }\n"
        ),
    }
    done = crawl(write_tree(tmp_path / "work", files), Config(cross_check=1.0), Watcher(), environment={})
    found = done.manifest["cross_check"]
    assert found["checked"] > 0
    assert found["disagreed"] == 0, found["samples"]
