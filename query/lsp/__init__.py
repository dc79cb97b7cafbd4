"""`lspidx lsp`: a language server that answers from the index, by the tools that every other face asks too.

`wire` reads and writes JSON-RPC, `pool` runs requests that can be cancelled, `server` keeps to the protocol's order of things. `texts`
has what the client has open, `carry` leads a place of that text to the text that was indexed and back, `views` does so for answers.
`rooms` are the client's folders, each with its index. `places`, `symbols`, `hierarchies`, `lenses` and `faults` translate answers of
tools, `live` and `renames` what running servers say. `notices` tells how complete each answer is.
"""
