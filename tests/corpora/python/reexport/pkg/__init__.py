from .impl import Thing as Renamed
from .impl import act
from . import impl as _impl

__all__ = ["act", "Renamed"]
