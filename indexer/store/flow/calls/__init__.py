"""What a call does with what reaches it: functions and classes of the text (`call`), and what libraries do.

`operations` are calls that no text writes down: iteration, items, `with`. `library` has the built-in functions, `standard` the rest of the
standard library, `iterating` what goes through elements, `containers` the methods of lists and mappings, `named` what is reached by a
name that is a value; `thrown` takes what functions throw to who catches it.
"""
