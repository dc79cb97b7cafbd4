"""What comes out once values have stopped: edges and meanings (`edges`), what is told at the end (`described`, `below`), what is kept."""
