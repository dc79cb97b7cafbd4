def third():
    pass
