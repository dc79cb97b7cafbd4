def from_init():
    pass
