"""The benchmark: speed, memory and accuracy of lspidx beside SCIP's indexers, pyright and the compilers, on pinned corpora.

Start reading at `__main__.py`. Python is judged by `accuracy` (three engines vote), TypeScript and Go by `agreement` (two engines,
neither is the truth). Everything fetched and measured lies in one working folder (`.bench`, not tracked):

    downloads/  corpora/  peers/  env/  node/  node-typescript/  gobin/  servers/  tried/  cache/  log/  scip/
    result*.json  sample.txt  samples/*.jsonl
"""
