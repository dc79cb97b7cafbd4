"""What the text of one file says by itself: identifiers, scopes, definitions, call sites.

A syntax adapter turns bytes into a `Syntax` (`indexer.syntax.model`), with no server and no other file in sight.
It decides which identifiers must be asked of a language server and which are certain by the rules of the language.
Python's adapter is `indexer.syntax.python`; start reading in `model`.
"""
