"""`lspidx mcp`: the declared tools for agents, by the official `mcp` SDK.

`server` puts together what clients see; `tools` answers calls, `job` runs them on threads that can be stopped, `workspace` finds the
index; `resources` and `prompts` are what their names say; `http` and `stdio` are the two ways in. Nothing here knows a tool by its
content: names, schemas, texts and limits come from the declarations.
"""
