"""Which pages the book has, and the folder that it is built from: the documents at their places, so that their links hold."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
SETTINGS = Path(__file__).with_name("mkdocs.yml")
FOLDERS = ("indexer/doc", "query/doc", "ci", ".github", "cache-artifacts")
DECISIONS = "indexer/doc/decisions"
_LINK = re.compile(r"(\]\()([^)#\s]+)")


def documents() -> list[str]:
    """Every page, relative to the repository, README first."""
    found = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))]
    return ["README.md", *found]


def decisions() -> list[tuple[str, str]]:
    """Title and place of each decision, in their order."""
    places = sorted((ROOT / DECISIONS).glob("*.md"))
    return [(_title(place), place.relative_to(ROOT).as_posix()) for place in places]


def settings(docs: Path, site: Path) -> dict[str, Any]:
    """Mkdocs' settings, with the decisions in the list of pages."""
    known: dict[str, Any] = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    listed: list[Any] = [f"{DECISIONS}/index.md", *({title: place} for title, place in decisions())]
    return {**known, "docs_dir": str(docs), "site_dir": str(site), "nav": [*known["nav"], {"Decisions": listed}]}


def listed(nav: Any) -> list[str]:
    """The places in a list of pages as mkdocs takes it."""
    if isinstance(nav, str):
        return [nav]
    return [place for item in (nav.values() if isinstance(nav, dict) else nav) for place in listed(item)]


def assemble(docs: Path) -> None:
    """Writes the pages, and the files that they link to, below `docs`."""
    shutil.rmtree(docs, ignore_errors=True)
    for place in documents():
        target = docs / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / place).read_text(encoding="utf-8")
        target.write_text(_LINK.sub(lambda found, place=place: found[1] + _linked(docs, place, found[2]), text), encoding="utf-8")
    (docs / DECISIONS).mkdir(parents=True, exist_ok=True)
    lines = ["# Decisions", "", "Each with what was weighed, what was measured, and when to look again.", ""]
    lines += [f"- [{title}]({os.path.basename(place)})" for title, place in decisions()]
    (docs / DECISIONS / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _linked(docs: Path, page: str, target: str) -> str:
    """The link as the book has it: a folder of pages by its index, another file by a copy of it, another folder by its README."""
    if re.match(r"[a-z]+:", target):
        return target
    place = os.path.normpath(os.path.join(os.path.dirname(page), target))
    if place == DECISIONS:
        return f"{target.rstrip('/')}/index.md"
    if (ROOT / place).is_dir():
        return f"{target.rstrip('/')}/README.md"
    if not place.endswith(".md"):
        (docs / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / place, docs / place)
    return target


def _title(place: Path) -> str:
    first = place.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ").strip()
