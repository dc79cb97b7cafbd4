"""What makes or changes an index: recrawl, artifacts, further folders; and the doctor of the set-up."""
