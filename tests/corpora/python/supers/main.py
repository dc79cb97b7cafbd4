class Base:
    def m(self):
        return 1

    @classmethod
    def build(cls):
        return cls()

    @staticmethod
    def helper():
        return 2


class Middle(Base):
    pass


class Child(Middle):
    def __init__(self):
        super().__init__()

    def m(self):
        self.helper()
        Base.helper()
        return super().m()

    @classmethod
    def build(cls):
        cls.helper()
        return super().build()


Child.build().m()
Child().build()
