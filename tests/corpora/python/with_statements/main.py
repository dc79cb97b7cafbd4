import contextlib


@contextlib.contextmanager
def opened():
    yield 1


class Resource:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None

    def __iter__(self):
        return iter([1])

    def __add__(self, other):
        return self

    def __getitem__(self, key):
        return key

    def use(self):
        return None


def go():
    with opened() as number, Resource() as resource:
        resource.use()
        for item in resource:
            print(item, number)
        return (resource + resource)[0]
