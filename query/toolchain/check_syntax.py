"""Run by a project's own interpreter, any Python 3: compiles files and folders without running or writing anything.

Prints one JSON object per file that does not compile: path, line, column, message. Nothing of lspidx is imported.
"""

import json
import os
import sys
import tokenize
import warnings

_SKIPPED = {"node_modules", "site-packages", "__pycache__"}


def _files(place):  # noqa: ANN001, ANN202  # pyright: ignore
    if not os.path.isdir(place):
        yield place
        return
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in _SKIPPED and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )
        for name in sorted(names):
            if name.endswith(".py") and os.path.isfile(os.path.join(folder, name)):
                yield os.path.join(folder, name)


def main(places):  # noqa: ANN001, ANN201  # pyright: ignore
    warnings.simplefilter("ignore")
    failed = False
    for place in places:
        for path in _files(place):
            found = None
            try:
                with tokenize.open(path) as file:
                    compile(file.read(), path, "exec", dont_inherit=True)
            except SyntaxError as error:
                found = {"line": error.lineno or 0, "column": error.offset or 0, "message": "%s: %s" % (type(error).__name__, error.msg)}  # noqa: UP031
            except (ValueError, RecursionError, MemoryError, OSError) as error:
                found = {"line": 0, "column": 0, "message": "%s: %s" % (type(error).__name__, error)}  # noqa: UP031
            if found:
                failed = True
                print(json.dumps(dict(found, path=path, code="syntax")))  # noqa: T201
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
