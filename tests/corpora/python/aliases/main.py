def g():
    pass


def h():
    pass


f = g
f()


def local_alias(flag):
    chosen = g if flag else h
    chosen()  # wrong: ty follows the first arm only
    again = chosen
    return again()


table = {"g": g}
table["g"]()


class Holder:
    run = g
    made = staticmethod(h)

    def use(self):
        self.made()
        Holder.run()
