def second():
    from .one import first

    first()
