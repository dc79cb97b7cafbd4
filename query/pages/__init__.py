"""The index as pages: `lspidx serve`, live on this machine, and `lspidx site OUT`, files that any web server or browser can show.

- names: the name of each page, made of digests and of plain signs, so that no name of a repository is a name of a file.
- markup: HTML that is escaped where it is made; the frame of every page, how complete a list is.
- source: the text of a file, with each identifier linked. folders, symbols, lists: the other pages.
- book: what is known of the index, for all pages; the page of a name.
- out, site: the folder that is written, and writing it with several processes. serve: the pages by HTTP, on loopback.

Both show the same pages by the same names, so every link is relative and leads to a page of our own. Names, paths, source and
documentation come from a repository that may be hostile: see `markup`. A page reads without JavaScript, which adds the search as you
type and the keys.
"""
