from . import names
from .names import LIMIT, alias, instance
from .names import alias as renamed

alias()
renamed()
names.alias()
instance()
names.instance()
instance.callback()
print(LIMIT, names.LIMIT, instance.limit, names.Maker.limit)
names.LIMIT = 4
