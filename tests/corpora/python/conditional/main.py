import sys

if sys.platform == "win32":

    def chosen():
        return "windows"

else:

    def chosen():
        return "other"


try:
    from missing_module import fast
except ImportError:

    def fast():
        return 1


def use():
    chosen()
    fast()
