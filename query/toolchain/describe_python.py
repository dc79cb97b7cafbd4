"""Run by a project's own interpreter, any Python 3: what pydoc finds under a name, as one JSON object. Imports the module that is named.

What the module prints while it is imported goes nowhere. Nothing of lspidx is imported.
"""

import inspect
import json
import os
import pydoc
import sys


def main(name):  # noqa: ANN001, ANN201  # pyright: ignore
    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    found = {"version": "%d.%d.%d" % sys.version_info[:3]}  # noqa: UP031
    try:
        thing = pydoc.locate(name)
        if thing is None:
            found["error"] = "no Python documentation found for '%s'" % name  # noqa: UP031
        else:
            found["doc"] = inspect.getdoc(thing) or inspect.getcomments(thing) or ""
            found["signature"] = _signature(name.rpartition(".")[2], thing)
    except BaseException as error:
        found["error"] = "%s: %s" % (type(error).__name__, error)  # noqa: UP031
    os.write(out, json.dumps(found).encode())
    os._exit(0)  # the module's own threads and hooks are of no interest


def _signature(name, thing):  # noqa: ANN001, ANN202  # pyright: ignore
    if inspect.ismodule(thing):
        return "module " + thing.__name__
    try:
        parameters = str(inspect.signature(thing)) if callable(thing) else ""
    except (TypeError, ValueError):
        parameters = "(...)"
    word = "class " if inspect.isclass(thing) else "def " if callable(thing) else ""
    return word + name + parameters


if __name__ == "__main__":
    main(sys.argv[1])
