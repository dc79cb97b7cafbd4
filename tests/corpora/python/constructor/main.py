class Plain:
    pass


class Made:
    def __init__(self, value):
        self.value = value


class New:
    def __new__(cls):
        return object.__new__(cls)


class Inherited(Made):
    pass


class Both(New, Made):
    pass


def build():
    Plain()
    Made(1)
    New()
    Inherited(2)
    Both()
