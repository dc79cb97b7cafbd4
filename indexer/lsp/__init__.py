"""The Language Server Protocol without IO: bytes in, messages out; requests in, bytes out. Time is somebody else's."""
