"""Which connector HDF5 really uses in this process.

HDF5 can fall back to its native connector without a word, so a run counts only if the library itself says which
connector its files get. A process may hold several libhdf5 (each wheel brings one); all of them are asked. No file
is opened here: the connector's own report must show the program's calls, not ours.
"""

import ctypes
import os
import re

LIBRARY = re.compile(r"/libhdf5(-[0-9a-f]+)?\.so[^/]*$")


def libraries():
    """Paths of all libhdf5 in this process."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in maps if line.count("/")}
    return sorted(path for path in paths if LIBRARY.search(path))


def uses(path, connector):
    """Whether the library at `path` gives files to `connector` unless told otherwise."""
    hdf5 = _bind(path)
    name = connector.encode()
    if hdf5.H5VLis_connector_registered_by_name(name) <= 0:
        return False
    by_name = hdf5.H5VLget_connector_id_by_name(name)
    file_access = ctypes.c_int64.in_dll(hdf5, "H5P_CLS_FILE_ACCESS_ID_g")
    properties = hdf5.H5Pcreate(file_access)
    default = ctypes.c_int64(-1)
    difference = ctypes.c_int(-1)
    try:
        return (
            hdf5.H5Pget_vol_id(properties, ctypes.byref(default)) >= 0
            and hdf5.H5VLcmp_connector_cls(ctypes.byref(difference), by_name, default) >= 0
            and difference.value == 0
        )
    finally:
        hdf5.H5VLclose(default)
        hdf5.H5VLclose(by_name)
        hdf5.H5Pclose(properties)


def _bind(path):
    hdf5 = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    identifier = ctypes.c_int64
    for function, arguments, result in [
        ("H5VLis_connector_registered_by_name", [ctypes.c_char_p], ctypes.c_int),
        ("H5VLget_connector_id_by_name", [ctypes.c_char_p], identifier),
        ("H5VLcmp_connector_cls", [ctypes.POINTER(ctypes.c_int), identifier, identifier], ctypes.c_int),
        ("H5VLclose", [identifier], ctypes.c_int),
        ("H5Pcreate", [identifier], identifier),
        ("H5Pget_vol_id", [identifier, ctypes.POINTER(identifier)], ctypes.c_int),
        ("H5Pclose", [identifier], ctypes.c_int),
    ]:
        symbol = getattr(hdf5, function)
        symbol.argtypes, symbol.restype = arguments, result
    hdf5.H5open()
    return hdf5
