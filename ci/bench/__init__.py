"""The benchmark: speed, memory and accuracy of lspidx beside scip-python, pyright and ty, on pinned corpora.

Start reading at `__main__.py`. Everything fetched and measured lies in one working folder (`.bench`, not tracked):

    downloads/  corpora/  peers/  env/  node/  cache/  scip/  result.json  sample.txt
"""
