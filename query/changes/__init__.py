"""What a change does: from git's diff to the symbols that it touches, who depends on them, and how risky that is.

- diff: which files differ between two trees, at which lines; the only module that runs git.
- outlines: the symbols of one file on one side, from an index that holds this very content, else from the text.
- scan: code without comments, documentation and layout. Pure.
- signatures: whether uses that fit a declaration fit another one. Pure.
- compare: two outlines and the lines that differ: what became of each symbol. Pure.
- bases: the index of the old side: found, or made.
- trees: both sides of all files of a change, and how well an index fits the new side.
- effects: who calls or names what was changed, and which of them the change itself touches.
- interfaces: what a type satisfies no longer.
- suites: tests that a runner finds otherwise than by a function's name.
- reach: which tests reach it, the likeliest first.
- selection: which of them to run where not all are. Pure.
- selectors: how each runner names a test.
- rules: the table of risks. Pure.
- model: the records that every report is made of.
- findings: all that is known of each changed symbol, and the verdict on it.
- review: all of it together.
"""
