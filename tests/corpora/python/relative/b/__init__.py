from . import three
