"""What a change does: from git's diff to the symbols that it touches, who depends on them, and how risky that is.

- diff: which files differ between two trees, at which lines; the only module that runs git.
- outlines: the symbols of one file on one side, from an index that holds this very content, else from the text.
- compare: two outlines and the lines that differ: what became of each symbol. Pure.
- bases: the index of the old side: found, or made.
- effects: who calls or names what was changed, which of them the change itself touches, which tests reach it.
- rules: the table of risks. Pure.
- review: all of it together, the one model that every report is made of.
"""
