__all__ = ["shown", "CONSTANT"]
CONSTANT = 1


def shown():
    return 1


def hidden():
    return 2
