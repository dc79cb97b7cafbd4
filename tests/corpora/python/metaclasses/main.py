class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)

    def create(cls):
        return cls()


class Made(metaclass=Meta):
    def __init_subclass__(cls, **options):
        super().__init_subclass__()

    def __init__(self, x=1):
        self.x = x


class Sub(Made, key=1):
    pass


Made(2)
Sub.create()
