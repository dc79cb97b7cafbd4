def target(x=None):
    return x


target()


class Body:
    attribute = target()
    items = [target() for _ in range(2)]

    class Inner:
        deep = target()


double = lambda x: target(x)
double(1)


def default_argument(value=target()):
    return [target() for _ in range(value)]


def outer():
    def inner():
        return target()

    return inner()


async def coroutine():
    await other()
    async for item in generator():
        target(item)


async def other():
    pass


async def generator():
    yield target()


def annotated(x: "list[Body]") -> Body:
    with manager() as m:
        return m


class manager:
    def __enter__(self):
        return Body()

    def __exit__(self, *args):
        target()


if target():
    print(f"{target()}")
