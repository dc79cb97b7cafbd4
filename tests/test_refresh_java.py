"""An index of Java that goes on from what is known equals one that is made from nothing, row for row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from cache_support import clone, tables
from support import crawl_with_ty, write_tree
from toolchains import requires

BASE, LOW, USE, CONST, OVER, GAUGE, VOICE, TALK = (
    f"src/main/java/shop/{name}.java" for name in ("Base", "Low", "Use", "Const", "Over", "Gauge", "Voice", "Talk")
)
FILES = {
    BASE: "package shop;\nclass Base {\n  void step() {}\n  public void run() {}\n}\n",
    LOW: "package shop;\nclass Low extends Base {\n  void step() {}\n}\n",
    USE: "package shop;\nclass Use {\n  void use(Base base, Low low) {\n    base.step();\n    low.step();\n    low.run();\n  }\n}\n",
    CONST: 'package shop;\nclass Const {\n  static final int MOST = 3;\n  static final String NAME = "a";\n}\n',
    OVER: (
        "package shop;\nclass Over {\n  static void take(int one) {}\n  static void take(long one) {}\n"
        "  void f() {\n    take(Gauge.read());\n    take(new Gauge().size);\n    switch (1) { case Const.MOST: }\n  }\n}\n"
    ),
    GAUGE: "package shop;\nclass Gauge {\n  int size;\n  static int read() {\n    return 1;\n  }\n}\n",
    VOICE: "package shop;\nclass Voice implements Says {}\n",
    "src/main/java/shop/Says.java": "package shop;\ninterface Says {}\n",
    TALK: 'package shop;\nclass Talk {\n  String talk(Says says, Voice voice) {\n    return says + "" + voice;\n  }\n}\n',
}
Change = Mapping[str, Callable[[str], str | None]]


def _to(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


EDITS: Mapping[str, Change] = {
    "a base gains an interface of the library": {BASE: _to("class Base", "class Base implements Runnable")},
    "an override disappears": {LOW: _to("  void step() {}\n", "")},
    "an override appears": {LOW: _to("class Low extends Base {\n", "class Low extends Base {\n  void step() {}\n  public void run() {}\n")},
    "a constant that the compiler puts in": {CONST: _to("MOST = 3", "MOST = 7")},
    "a result, by which overloads are chosen": {GAUGE: _to("static int read", "static long read")},
    "the type of a field, by which overloads are chosen": {GAUGE: _to("int size", "long size")},
    "a body": {OVER: _to("take(Gauge.read());", "take(2);")},
    "what a sign runs": {VOICE: _to("Says {}", 'Says {\n  public String toString() {\n    return "";\n  }\n}')},
    "a file that goes, and another one of its name": {
        GAUGE: lambda _: None,
        GAUGE.replace("/shop/", "/till/"): lambda _: "package till;\nclass Gauge {}\n",
    },
    "a class of a name that there is, in another root": {
        "examples/shop/Base.java": lambda _: "package shop;\nclass Base {\n  void other() {}\n}\n"
    },
}


def _apply(root: Path, change: Change) -> None:
    for path, edit in change.items():
        file = root / path
        text = edit(file.read_text(encoding="utf-8") if file.exists() else "")
        if text is None:
            file.unlink()
        else:
            write_tree(root, {path: text})


@pytest.mark.slow
def test_each_of_many_edits_leaves_what_a_crawl_of_everything_makes(tmp_path: Path) -> None:
    """One index upon the other."""
    requires("javac")
    root = write_tree(tmp_path / "work", FILES)
    crawl_with_ty(root, jobs=1)
    for name, change in EDITS.items():
        _apply(root, change)
        made = crawl_with_ty(root, jobs=1)
        assert made.manifest["lost"] == {}, name
        clean = clone(root, tmp_path / name / root.name)
        crawl_with_ty(clean, jobs=1)
        assert tables(root) == tables(clean), name
