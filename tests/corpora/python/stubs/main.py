from .both import Thing, described

described(1)
Thing().go()
