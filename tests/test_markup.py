"""Markup of Vue and Svelte is code: each case is a component, what its markup runs, and what an answer must not call complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from query_support import codes, generation
from support import crawl_with_ty, rows, write_tree
from toolchains import requires

from indexer import component
from query.facts.index import open_index
from query.surface.registry import call

LIB = """import { writable } from 'svelte/store'
export function inText(x) { return x }
export function inHandler() {}
export function inStatements() {}
export function inArrow() {}
export function inProp() {}
export function inLoop(x) { return [x] }
export function inSlot(x) { return x }
export function inBlock(x) { return x }
export function inModel() { return {} }
export function inAction(node) {}
export function inPre() {}
export function inComment() {}
export function inPug() {}
export function inFilter(x) { return x }
export function inStyle() {}
export function inEntities() {}
export function inKebab() {}
export function inShort() {}
export function inKey(x) { return x }
export function inConst(x) { return x }
export function inSnippet(x) { return x }
export function inHtml(x) { return x }
export function inAwait(x) { return x }
export function nowhere() {}
export const counter = writable(0)
export class Item { label() { return 1 } }
export function items(): Item[] { return [] }
"""
SETUP = """<script lang="ts">
export function fromPlain() { return 1 }
</script>
<script setup lang="ts">
import { inText, inHandler, inStatements, inArrow, inProp, inLoop, inSlot, inBlock, inPre, inComment, inStyle } from './lib'
import { items, inEntities, inShort } from './lib'
import Child from './Child.vue'
import DeepChild from './DeepChild.vue'
const open = 1
function local() { return open }
</script>
<template>
  <!-- {{ inComment() }} -->
  <p :title="inText(1)" v-if="open &amp;&amp; inEntities() < 3">{{ inText(2) }} & {{ local() < 2 && fromPlain() }}</p>
  <button @click="inHandler" @keyup.enter="inStatements(); local()" @blur="() => inArrow()">é😀{{ inText('}') }}</button>
  <Child
    v-for="(entry, at) in inLoop(items())"
    :key="at" :entry="entry" :on-save="inProp" :inShort>
    <template #row="{ item, index = at }">{{ inSlot(item) }} {{ entry.label }}</template>
    <template #default><i v-for="one in items()" :key="one.label()">{{ one.label() }}</i></template>
  </Child>
  <DeepChild v-model="open"/><deep-child/>
  <div v-pre>{{ inPre() }}</div>
  <ul><li v-for="open of inBlock(3)">{{ open }}</ul>
</template>
<style>p { color: v-bind('inStyle') }</style>
"""
CHILD = "<script setup lang='ts'>\ndefineProps<{ entry: object }>()\n</script>\n<template><slot name='row'/></template>\n"
OPTIONS = """<template>
  <div @click="go" :class="{ on: total, off: picked }">{{ count }} {{ shout(count) | cap }} {{ helper(1) }}
    <other v-for="count in list" :key="count.id" @done="run(count)" /><Named/>
  </div>
</template>
<script>
import { helper, shout, nowhere } from './lib2'
import Named from './Child.vue'
export default {
  components: { Named },
  mixins: [helper],
  props: { picked: Boolean },
  data() { return { count: 0, list: [] } },
  computed: { total() { return 1 } },
  filters: { cap(x) { return x } },
  methods: { go() {}, run: function (x) { return x }, shout, unused() {} },
}
</script>
"""
SVELTE = """<script lang="ts">
  import { inText, inHandler, inArrow, inProp, inLoop, inSlot, inBlock, inModel, inAction, inComment, inKey, inConst } from './lib'
  import { inSnippet, inHtml, inAwait, inShort, counter, items } from './lib'
  import Child from './Child.svelte'
  export let title = 1
  let form = inModel()
  $: double = inText(title)
  function local() { $counter = 2; return $counter }
</script>
<!-- {inComment()} -->
<svelte:head><title>{inText(1)}</title></svelte:head>
<p class="a {inText(2)} b" title={`${inText('}')} {`} use:inAction={{ a: 1 }} on:click={inHandler}
  on:blur={() => { inArrow() }}>{double} {$counter}</p>
{#if inBlock(title) > 1}{@const twice = inConst(2)}{twice}{:else if inBlock(3)}{local()}{/if}
{#each inLoop(items()) as { id, name }, at (inKey(id))}{name}{at}{:else}{name}{/each}
{#await inAwait(1)}{title}{:then value}{value}{:catch error}{error}{/await}
{#snippet row(cell: number)}{inSnippet(cell)}{/snippet}
{@render row(1)}{@html inHtml(2)}
<Child bind:title={form.title} onsave={inProp} {inShort} let:item={thing}>{inSlot(thing)}</Child>
"""
SVELTE_CHILD = "<script>\n  export let title\n</script>\n<slot item={title}/>\n"


TSCONFIG = '{"compilerOptions": {"strict": true, "allowJs": true, "target": "esnext"}, "include": ["src"]}\n'


def _crawled(root: Path, files: dict[str, str]) -> Path:
    requires("ts7")
    crawl_with_ty(write_tree(root, {"tsconfig.json": TSCONFIG, "package.json": "{}", **files}))
    return root


@pytest.fixture(scope="module")
def vue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {
        "src/lib.ts": LIB,
        "src/lib2.ts": "export function helper(x) {}\nexport function shout(x) { return x }\n",
        "src/Setup.vue": SETUP,
        "src/Child.vue": CHILD,
        "src/DeepChild.vue": "<template><p/></template><script>export default { name: 'DeepChild' }</script>",
        "src/Options.vue": OPTIONS,
        "src/Pug.vue": "<script setup>\nimport { inPug } from './lib'\n</script><template lang='pug'>\np(@click='inPug()')\n</template>\n",
    }
    return _crawled(tmp_path_factory.mktemp("vue"), files)


@pytest.fixture(scope="module")
def svelte(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"src/lib.ts": LIB, "src/Page.svelte": SVELTE, "src/Child.svelte": SVELTE_CHILD}
    return _crawled(tmp_path_factory.mktemp("svelte"), files)


def _line(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n")


def _calls(root: Path, callee: str) -> list[tuple[str, int]]:
    return rows(generation(root), f"SELECT path, line FROM calls WHERE callee LIKE '%{callee}' ORDER BY ALL")


def _codes(root: Path, tool: str, symbol: str) -> list[str]:
    with open_index(root) as index:
        return codes(call(index, tool, {"symbol": symbol}))


VUE_CALLS = {
    "inText": [":title", ":title", "@keyup"],
    "inHandler": ["@click"],
    "inStatements": ["@keyup"],
    "inArrow": ["@click"],
    "inLoop": ["v-for"],
    "inSlot": ["#row"],
    "inBlock": ["<ul>"],
    "inEntities": [":title"],
    "fromPlain": [":title"],
}


@pytest.mark.parametrize(("name", "places"), VUE_CALLS.items())
def test_a_template_of_vue_calls(vue: Path, name: str, places: list[str]) -> None:
    lines = sorted(("src/Setup.vue", _line(SETUP, place)) for place in places)
    assert _calls(vue, f"/{name}().") == sorted(set(lines)) or _calls(vue, f"/{name}().") == lines
    assert _codes(vue, "callers", name) == []


@pytest.mark.parametrize("name", ["inPre", "inComment"])
def test_what_vue_does_not_read_is_no_use(vue: Path, name: str) -> None:
    assert (_calls(vue, f"/{name}()."), _codes(vue, "callers", name)) == ([], [])


@pytest.mark.parametrize(
    ("name", "code"), [("inPug", "not_read"), ("inProp", "escapes"), ("inShort", "escapes"), ("inStyle", "escapes"), ("shout", "escapes")]
)
def test_what_vue_is_given_is_a_reason(vue: Path, name: str, code: str) -> None:
    """A function that a component gets may be called there; a template in another language is not read."""
    assert _codes(vue, "callers", name) == [code]


def test_members_of_options_are_what_a_template_means(vue: Path) -> None:
    """Not what the module imports: `helper` may be the mixin's, and `count` is the loop's or the data's."""
    line = _line(OPTIONS, "<div")
    assert _calls(vue, "default.go().") == [("src/Options.vue", line)]
    assert _calls(vue, "default.total().") == [("src/Options.vue", line)]  # which runs where it is read
    assert _codes(vue, "callers", "total") == []
    assert _calls(vue, "default.cap().") == [("src/Options.vue", line)]
    assert _calls(vue, "default.run().") == [("src/Options.vue", line + 1)]
    assert _calls(vue, "/shout().") == [("src/Options.vue", line)]
    assert _calls(vue, "/helper().") == []
    assert "unresolved_same_name" in _codes(vue, "callers", "helper")


def test_a_component_is_called_where_a_tag_names_it(vue: Path) -> None:
    """By its own name; a name with hyphens counts by its words."""
    calls = rows(generation(vue), "SELECT path, line FROM calls WHERE callee LIKE '%DeepChild.vue%' ORDER BY ALL")
    assert calls == [("src/Setup.vue", _line(SETUP, "<DeepChild"))]
    assert _codes(vue, "callers", "DeepChild") == ["not_read"]


def test_elements_of_a_loop_have_their_types(vue: Path) -> None:
    lines = {_line(SETUP, "#row"), _line(SETUP, "#default")}
    assert set(_calls(vue, "Item#label().")) >= {("src/Setup.vue", _line(SETUP, "#default"))}
    assert {line for _, line in _calls(vue, "Item#label().")} <= lines


SVELTE_CALLS = {
    "inText": ["  $:", "<svelte:head", "<p", "<p"],
    "inHandler": ["<p"],
    "inArrow": ["on:blur"],
    "inAction": ["<p"],
    "inBlock": ["{#if", "{#if"],
    "inConst": ["{#if"],
    "inLoop": ["{#each"],
    "inKey": ["{#each"],
    "inAwait": ["{#await"],
    "inSnippet": ["{#snippet"],
    "inHtml": ["{@render"],
    "inSlot": ["<Child"],
}


@pytest.mark.parametrize(("name", "places"), SVELTE_CALLS.items())
def test_a_template_of_svelte_calls(svelte: Path, name: str, places: list[str]) -> None:
    assert _calls(svelte, f"/{name}().") == sorted(("src/Page.svelte", _line(SVELTE, place)) for place in places)
    assert _codes(svelte, "callers", name) == []


@pytest.mark.parametrize(("name", "code"), [("inProp", "escapes"), ("inShort", "escapes")])
def test_what_a_component_of_svelte_is_given_is_a_reason(svelte: Path, name: str, code: str) -> None:
    assert _codes(svelte, "callers", name) == [code]


def test_a_subscription_is_a_use_of_the_store(svelte: Path) -> None:
    """`$counter` names `counter`, one sign to the right, in scripts and in markup; so does a rename."""
    sql = "SELECT path, line, col FROM occurrences WHERE name = 'counter' AND path LIKE '%.svelte' ORDER BY ALL"
    found = {(line, col) for _, line, col in rows(generation(svelte), sql)}
    written = {(at, text.index("$counter") + 1) for at, text in enumerate(SVELTE.split("\n")) if "$counter" in text}
    assert found >= written
    with open_index(svelte) as index:
        answer = call(index, "rename_symbol", {"symbol": "counter", "new_name": "total", "sites": "both"})
    assert "$total = 2; return $total" in str(answer.result)


def test_what_a_parent_binds_is_not_certainly_unused(svelte: Path) -> None:
    """`export let title` is set by `bind:title` of whoever shows the component, which no code names."""
    with open_index(svelte) as index:
        answer = call(index, "references", {"symbol": "src/Child.svelte:2"})
    assert "not_read" in codes(answer)


def test_names_that_a_framework_finds_by_itself_are_reasons(tmp_path: Path) -> None:
    """Nuxt imports components and composables; a mixin, a plugin give a template what no file of it names."""
    root = _crawled(
        tmp_path,
        {
            "nuxt.config.ts": "export default {}\n",
            "src/components/base/MyButton.vue": "<script setup>\nlet a = 1\n</script>\n<template><p/></template>\n",
            "src/components/Lone.vue": "<script setup>\nlet b = 1\n</script>\n<template><p/></template>\n",
            "src/composables/thing.ts": "export function useThing() {}\nexport function useOther() {}\nexport function useNone() {}\n",
            "src/pages/a.vue": "<script setup>\nconst x = useThing()\n</script>\n<template><BaseMyButton @click='mixed'/></template>\n",
            "src/server.ts": "export const y = useOther()\n",
            "src/mixin.js": "export default { methods: { mixed() {}, inMixin() {} } }\n",
            "src/B.vue": "<template><p @click='inMixin'/></template>\n<script>\nexport default { mixins: [window.m] }\n</script>\n",
        },
    )
    for symbol in ("src/components/base/MyButton.vue:5", "useThing", "useOther", "mixed", "inMixin"):
        assert "unresolved_same_name" in _codes(root, "callers", symbol), symbol
        assert _codes(root, "callers", symbol).count("unresolved_same_name") == 1
    assert _codes(root, "callers", "useNone") == []
    assert _codes(root, "callers", "Lone") == []
    with open_index(root) as index:
        dead = call(index, "unreferenced", {"include_exported": True}).result
    assert {row.name.rpartition(".")[2] for row in dead if row.confidence == "certain"} <= {"useNone"}


@pytest.mark.parametrize("path", ["A.vue", "A.svelte"])
@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 30_000,
        "<p v-for='a in b'>" * 3_000,
        "{#if a}" * 5_000,
        "{{ [ }} " * 20_000,
        "{" * 100_000,
        "<p :a='" + "(" * 100_000 + "'>",
        "<p v-for='" + " " * 100_000 + "'>",
        "<script '" * 20_000,
        "<p " + "a='{b}' " * 30_000 + ">",
        "{#each " + "[" * 20_000 + "] as x}",
        "<!--" * 30_000,
        "{{ a\n" * 20_000,
        "<p :b=\"';')};export const stolen = 1;({'\">{{ ')' }}</p>",
        '<A.B.C-d:e {{}} {...} {@} {#} {:} {/} :[ @ # v- v-for="" #[]="" =""></A>',
    ],
)
def test_hostile_markup_costs_bounded_time_and_keeps_the_places(path: str, markup: str) -> None:
    """Whatever stands there, lines are as long as in the file, and the script is as it was."""
    for language in ("html", "html' x='"):
        text = f"<script>\nlet a = 1\n</script>\n<template lang='{language}'>\n{markup}\n</template>\n"
        code = component.scripts_of(path, text)
        assert code is not None
        assert code.split("\n")[1] == "let a = 1"
        assert "stolen" not in code.replace("';')};export const stolen = 1;({'", "")
        for made, written in zip(code.split("\n"), text.split("\n"), strict=False):
            assert len(made) == len(written)
