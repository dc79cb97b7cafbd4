class Zed:
    def __init__(self):
        pass

    def shared(self):
        pass


class Alpha:
    def __init__(self):
        pass

    def shared(self):
        pass


class Both(Zed, Alpha):
    def shared(self):
        super().shared()


class Root:
    def __init__(self):
        pass

    def near(self):
        pass


class Left(Root):
    pass


class Right(Root):
    def __init__(self):
        super().__init__()

    def near(self):
        pass


class Bottom(Left, Right):
    def near(self):
        pass


Both()
Bottom()
