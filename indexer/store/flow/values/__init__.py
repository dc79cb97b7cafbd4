"""What flows, where it arrives, and how it goes on: a graph with a worklist over it.

`value` says what flows; `graph` and `nodes` where; `sites` and `calling` which calls there are. `known`, `binding`, `setting`, `reading`
and `solver` are one class in parts, each on top of the one before: what a value does where it is taken of an object, set, and read.
"""
