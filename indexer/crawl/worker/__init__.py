"""The child process of a crawl: talks to one server at a time and turns its answers into facts. Writes nothing to the disk."""
