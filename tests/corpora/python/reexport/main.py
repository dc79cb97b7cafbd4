import reexport.pkg
import reexport.pkg.impl as direct
from reexport.again import act as twice
from reexport.pkg import Renamed, act
from reexport import pkg


def use():
    act()
    twice()
    Renamed().go()
    reexport.pkg.act()
    reexport.pkg.impl.act()
    direct.act()
    pkg.act()
    direct.Thing.go(direct.Thing())
