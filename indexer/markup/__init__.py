"""The markup of components (Vue, Svelte) as expressions and statements of TypeScript that stand at the places of the file.

`templates` reads elements and attributes, by tree-sitter's grammar of HTML; `vue` and `svelte` know what their languages write in them;
`draft` is the text that is made. `indexer.component` puts it together with the scripts. See ADR 0090.
"""

READ = (".vue", ".svelte")
"""Extensions of components whose markup is read."""
