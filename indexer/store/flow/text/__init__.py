"""What the text of a workspace says: rows of all files, what their identifiers mean, which classes there are.

`inputs` reads them, `program` holds them, `kinds` names what rows are; `instances` adds the objects of classes of tests.
"""
