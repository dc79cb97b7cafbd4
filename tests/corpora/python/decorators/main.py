import functools


def bare(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def called(option):
    def decorate(function):
        return function

    return decorate


class Register:
    def __init__(self, function):
        self.function = function

    def __call__(self):
        return self.function()


@bare
def one():
    pass


@called("x")
def two():
    pass


@Register
def three():
    pass


@bare
class Four:
    @bare
    def method(self):
        pass


one()
two()
three()
Four().method()
