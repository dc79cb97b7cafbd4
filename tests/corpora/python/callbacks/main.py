import functools
import threading


def work(x):
    return x


class Worker:
    def step(self, x):
        return x

    def start(self):
        map(self.step, [1])
        return threading.Thread(target=self.step)


def apply(callback, value):
    return callback(value)


def main():
    apply(work, 1)
    sorted([1], key=work)
    functools.partial(work, 1)()
    apply(Worker().step, 1)
    apply(Worker, 1)
    apply(main, value=work)
