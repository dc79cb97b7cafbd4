"""`lspidx mcp`: the declared tools for agents.

`server` has the methods that clients meet; `stdio` speaks `protocol` with the one client that started us, `http` and `sdk` serve others by
the official SDK. `tools` lists, and hands questions to the processes of `workers`; there `worker` and `answering` answer them, by what
`workspace` finds. `frames` is what the two sides say to each other. Nothing here knows a tool by its content: names, schemas, texts and
limits come from the declarations.
"""
