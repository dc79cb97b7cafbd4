class Callable:
    def __call__(self, x):
        return x


instance = Callable()
instance(1)


def use(function: Callable, other):
    function(2)
    other(3)
    Callable()(4)
