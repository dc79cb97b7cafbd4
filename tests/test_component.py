"""Components of Vue, Svelte and Astro: their scripts are read where they stand. What their markup runs: `test_markup.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from query_support import codes, generation
from support import crawl_with_ty, rows, write_tree
from toolchains import requires

from indexer import component, embedded
from query.facts.index import open_index
from query.surface.registry import call

VUE = """<template>
  <p @click="save">{{ shown(1) }}</p>
</template>
<script setup lang="ts">
import { helper, shown } from './lib'
import Child from './Child.vue'
export const made = helper(2)
function save() { return made }
</script>
"""
CHILD = """<script>
import { helper } from './lib'
export default {
  methods: { go() { helper(3) } },
}
</script>
"""


@pytest.mark.parametrize(
    ("path", "text", "shown"),
    [
        ("A.vue", "<p>é😀</p><script>f(1)</script>", ["f(1)", "export default {", "}"]),
        ("A.vue", "<script>\nexport default {}\n</script>", ["export default {}"]),
        ("A.svelte", "<script>a()</script>\n<script context='module'>b()</script>", ["a()", "b()", "export default {", "}"]),
        ("A.astro", "---\nf(1)\n---\n<p/>\n", ["f(1)", "export default {", "}"]),
    ],
)
def test_scripts_stand_where_the_file_has_them(path: str, text: str, shown: list[str]) -> None:
    """All else is blank, as wide as it was in UTF-16; a default export stands for a component that names none."""
    code = component.scripts_of(path, text)
    assert code is not None
    assert [line.strip() for line in code.split("\n") if line.strip()] == shown
    written, line = next((a, b) for a, b in zip(text.split("\n"), code.split("\n"), strict=False) if "(1)" in a or "a()" in a or "{}" in a)
    at = max(line.find(sign) for sign in ("f(1)", "a()", "export"))
    assert len(line[:at].encode("utf-16-le")) == len(written[: written.find(line.strip()[:4])].encode("utf-16-le"))


@pytest.mark.parametrize(
    "text",
    ["<p/>", '<script src="a.ts"></script>', '<script lang="coffee">f 1</script>', "<!-- <script>f(1)</script> -->", "<script> </script>"],
)
def test_a_component_without_a_script_of_its_own_has_no_source(text: str) -> None:
    """Then it counts by its words alone."""
    assert component.scripts_of("A.vue", text) is None


def test_the_name_that_a_server_knows_leads_back_to_the_component(tmp_path: Path) -> None:
    """A file that really has such a name is itself."""
    assert embedded.without_alias(embedded.alias(str(tmp_path / "A.vue"))) == str(tmp_path / "A.vue")
    (tmp_path / "B.vue.ts").write_text("")
    assert embedded.without_alias(str(tmp_path / "B.vue.ts")) == str(tmp_path / "B.vue.ts")
    assert embedded.alias("a.ts") == embedded.without_alias("a.ts") == "a.ts"


def test_components_are_crawled_with_what_imports_them(tmp_path: Path) -> None:
    """Calls in scripts and in markup are calls, and an import of a component leads to its file."""
    requires("ts7")
    files = {
        "src/lib.ts": "export function helper(x: number) { return x }\nexport function shown(x: number) { return x }\n",
        "src/Card.vue": VUE,
        "src/Child.vue": CHILD,
        "src/main.ts": "import Card from './Card.vue'\nexport const card = Card\n",
        "tsconfig.json": '{"compilerOptions": {"strict": true}, "include": ["src"]}\n',
    }
    crawl_with_ty(write_tree(tmp_path, files))
    built = generation(tmp_path)
    calls = rows(built, "SELECT path, line FROM calls WHERE callee LIKE '%/helper().' ORDER BY ALL")
    assert calls == [("src/Card.vue", 6), ("src/Child.vue", 3)]
    imports = "SELECT name, target_path FROM occurrences WHERE name IN ('Card', 'Child') AND list_contains(roles, 'import') ORDER BY 1"
    assert rows(built, imports) == [("Card", "src/Card.vue"), ("Child", "src/Child.vue")]
    with open_index(tmp_path) as index:
        for name in ("shown", "save"):
            assert codes(call(index, "callers", {"symbol": name})) == []
    markup = "SELECT path, line FROM calls WHERE callee LIKE '%/shown().' OR callee LIKE '%/save().' ORDER BY ALL"
    assert rows(built, markup) == [("src/Card.vue", 1), ("src/Card.vue", 1)]
