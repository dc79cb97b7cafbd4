"""The parent decides: what is crawled, by which servers, how they are started, what must be crawled again. Talks to no server."""
