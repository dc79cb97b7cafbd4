"""The warm index that this repository commits: a fresh clone answers from it with no language server."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from query_support import LSPIDX, json_of

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracked files as they are in the work tree, in another place."""
    git = shutil.which("git")
    assert git
    place = tmp_path_factory.mktemp("fresh") / "clone"
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place / name)
    return place


def ask(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command where no language server can be found."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(clone.parent), "LSPIDX_SERVERS_DIR": str(clone.parent / "none"), "LANG": "C.UTF-8"}
    return subprocess.run([str(LSPIDX), *arguments], cwd=clone, env=environment, capture_output=True, encoding="utf-8", check=False)


def test_a_fresh_clone_answers_from_the_committed_index(clone: Path):
    assert ask(clone, "query", "symbols", "registry").returncode == 4  # nothing is there yet
    done = ask(clone, "cache", "import", "cache-artifacts", "--json")
    assert done.returncode == 0, done.stderr
    imported = json.loads(done.stdout)
    assert imported["same"] > imported["documents"] / 2, "the committed index is far behind; to bring it up to date: make cache"
    answer = json_of(ask(clone, "query", "callers", "query.surface.registry.call", "--limit", "500", "--max-chars", "2000000", "--json"))
    callers = {edge["symbol"]["qualified_name"] for edge in answer["result"]}
    assert "query.surface.service.Service.answered.asked" in callers
    assert answer["provenance"]["servers"]
    stale = [reason for reason in answer["completeness"]["reasons"] if reason["code"] == "stale"]
    if stale:  # only a file that may name it takes anything from the answer
        assert imported["differing"] + imported["absent"] + imported.get("new", 0)


def test_what_the_clone_changes_is_named_and_nothing_else_is_lost(clone: Path):
    before = json_of(ask(clone, "query", "callers", "query.surface.registry.call", "--json"))
    changed = clone / "query" / "surface" / "service.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\n\nADDED = 1\n", encoding="utf-8")
    after = json_of(ask(clone, "query", "callers", "query.surface.registry.call", "--json"))
    assert after["total"] == before["total"]
    assert after["completeness"]["status"] == "partial"
    reason = next(reason for reason in after["completeness"]["reasons"] if reason["code"] == "stale")
    assert "query/surface/service.py" in reason["paths"] or reason["count"] > 20
