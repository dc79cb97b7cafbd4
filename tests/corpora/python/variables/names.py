def real():
    return 1


alias = real
LIMIT = 3
instance: "Maker"


class Maker:
    limit = LIMIT

    def __init__(self):
        self.callback = real

    def __call__(self):
        return self.callback()


instance = Maker()
