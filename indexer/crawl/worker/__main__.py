"""One worker process: drives one server over the units it is given and says what it found in each.

Started by `indexer.crawl.pool` as `python -I -m indexer.crawl.worker`; takes JSON lines on its stdin (`Setup`, then `Job`s) and
answers with MessagePack frames on its stdout (`Report`s). The parent writes the shards: a worker stays small.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path


def main(mark: str, parent: str) -> int:
    """Args: the mark that all processes below this one carry, and the number of the process that started it."""
    gc.disable()  # nothing that is imported is cyclic garbage, and looking for it took a seventh of the start; `serve` goes on so

    import msgspec

    from indexer import logs
    from indexer.crawl.messages import Failed, Setup
    from indexer.crawl.worker.reports import send
    from indexer.crawl.worker.serve import serve
    from indexer.drive.process import end_marked, end_with_parent
    from indexer.errors import LspidxError

    end_with_parent(mark, int(parent))
    line = sys.stdin.buffer.readline()
    if not line:  # there is nothing to do
        return 0
    setups = msgspec.json.decode(line, type=list[Setup])
    logs.configure(Path(setups[0].log_file))
    try:
        serve(setups)
    except LspidxError as error:
        send(Failed(code=error.code, message=str(error)))
        return error.exit_code
    finally:
        end_marked(mark)  # what servers have put into sessions of their own; the crawler may not live to do it
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
