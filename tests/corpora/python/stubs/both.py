def described(x):
    return x


class Thing:
    def go(self):
        return described(1)
