class Thing:
    def go(self):
        return act()


def act():
    return 1
