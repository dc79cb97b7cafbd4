"""A change's `Review` as people and machines take it: one module per format, all of them pure.

- model: the report: findings with fingerprints, those that a baseline accepts, the commands that run the tests.
- baseline: the file of accepted findings.
- commands: the command lines of test runners.
- graphs: the changed symbols and their callers, and the callers of one symbol, as a graph; mermaid, dot, svg: ways to draw one.
- terminal, markdown, sarif, github, gitlab, junit, page: the formats. Each takes the report and returns the text of one file.

Names, paths and source lines come from a repository that may be hostile: each format escapes all of them at the one place where it
writes them.
"""
