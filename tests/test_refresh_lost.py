"""What was lost is asked again by the next run, and costs no other file where nothing else is another."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Watcher, crawl_with_fake, fake_server, rows, write_tree

from indexer.crawl.run import Crawl

PYTHON = {
    "a.py": "def first():\n    return second()\n\ndef second():\n    return len('x')\n",
    "b.py": (
        "# POISON\nimport a\n\nclass Poisoned:\n    def method(self):\n        return self.method().first\n\nkept = Poisoned().method()\n"
    ),
    "c.py": "import b\n\nb.kept\n",
    "d.py": "from b import Poisoned\n\ndef use(item: Poisoned):\n    return item.method()\n",
}
TYPESCRIPT = {
    "a.ts": "export function first() { return second(); }\nfunction second() { return 1; }\n",
    "b.ts": (
        "// POISON\nimport { first } from './a';\nexport function poisoned() { return first().length; }\n"
        "export const kept = poisoned().size;\n"
    ),
    "c.ts": "import { kept } from './b';\nkept.size;\n",
}
FACTS = (
    "SELECT path, line, col, name, roles, symbol, evidence FROM occurrences ORDER BY ALL",
    "SELECT * FROM coverage ORDER BY ALL",
    "SELECT path, qualified_name, hover FROM symbols ORDER BY ALL",
    "SELECT * FROM calls ORDER BY ALL",
)

pytestmark = pytest.mark.slow


@pytest.fixture(params=["python", "typescript"])
def language(request: pytest.FixtureRequest) -> str:
    return request.param


def _crawl(root: Path, script: str, language: str, *, watcher: Watcher | None = None) -> Crawl:
    """By a server that has the same name and version whatever it does."""
    return crawl_with_fake(root, fake_server(script, root.parent / "pids", language=language), watcher=watcher)


def _files(language: str) -> dict[str, str]:
    return PYTHON if language == "python" else TYPESCRIPT


def test_a_file_that_is_answered_at_last_costs_itself_alone(tmp_path: Path, language: str) -> None:
    root = write_tree(tmp_path / "work", _files(language))
    first = _crawl(root, "poison_die_at_definition", language)
    assert first.manifest["lost"]
    second = _crawl(root, "good", language)
    assert (second.manifest["lost"], second.manifest["crawled"]) == ({}, 1)
    clean = _crawl(write_tree(tmp_path / "clean", _files(language)), "good", language)
    for facts in FACTS:
        assert rows(second.generation, facts) == rows(clean.generation, facts)


def test_a_file_that_is_lost_in_another_way_costs_itself_alone(tmp_path: Path, language: str) -> None:
    root = write_tree(tmp_path / "work", _files(language))
    _crawl(root, "poison_die_at_hover", language)
    again = _crawl(root, "poison_die_at_definition", language)
    assert again.manifest["crawled"] == 1
    assert again.manifest["lost"]


def test_an_edit_beside_it_concerns_whom_it_concerned_before(tmp_path: Path, language: str) -> None:
    root = write_tree(tmp_path / "work", _files(language))
    _crawl(root, "poison_die_at_definition", language)
    [name] = [path for path in _files(language) if path.startswith("a.")]
    (root / name).write_text(_files(language)[name].replace("first", "other"), encoding="utf-8")
    second = _crawl(root, "good", language)
    clean = _crawl(
        write_tree(tmp_path / "clean", {path.name: path.read_text() for path in root.iterdir() if path.is_file()}), "good", language
    )
    for facts in FACTS:
        assert rows(second.generation, facts) == rows(clean.generation, facts)
