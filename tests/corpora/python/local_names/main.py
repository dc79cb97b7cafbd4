def one():
    item = 1
    same = [item for item in range(item)]
    add = lambda item: item + len(same)
    return add(item)


def two(item):
    try:
        pass
    except ValueError as item:
        print(item)

    class Local:
        value = item

        def method(self):
            return Local.value, self.value

    return Local().method()


def counter():
    count = 0

    def bump():
        nonlocal count
        count += 1
        return count

    return bump


def recursive(n):
    return recursive(n - 1) if n else counter()()
