"""Role bits as plain numbers: the walk combines them a million times, and IntFlag would cost a microsecond each."""

from __future__ import annotations

from indexer.model import Role

READ = int(Role.READ)
WRITE = int(Role.WRITE)
DEFINITION = int(Role.DEFINITION)
CALL = int(Role.CALL)
IMPORT = int(Role.IMPORT)
DECORATOR = int(Role.DECORATOR)
SUPERTYPE = int(Role.SUPERTYPE)
ANNOTATION = int(Role.ANNOTATION)
ARGUMENT = int(Role.ARGUMENT)
KEYWORD = int(Role.KEYWORD)
DELETE = int(Role.DELETE)
MENTION = int(Role.MENTION)
FIXTURE = int(Role.FIXTURE)
STAR = int(Role.STAR)
PATH = int(Role.PATH)
CONFINED = int(Role.CONFINED)
