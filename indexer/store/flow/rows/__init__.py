"""Rows to nodes: each row becomes what it says about the values of those that it takes.

One class in parts, each on top of the one before: `sources` and `bases` read the text alone; `narrowing`, `decorating`, `functions`,
`items` and `builder` have the handlers of rows.
"""
