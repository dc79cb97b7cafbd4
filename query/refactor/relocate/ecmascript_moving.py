def moved(index, scope, symbol, to, *, keeps):
    raise NotImplementedError
