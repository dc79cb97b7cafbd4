from reexport.pkg import act, Renamed
