"""The same with unittest, as PyTables has it."""

import unittest

import h5py


class Case(unittest.TestCase):
    def test_passes(self):
        h5py.h5.get_libversion()

    def test_fails(self):
        raise KeyError("as it should")

    @unittest.skip("as it should")
    def test_skips(self):
        pass

    def tearDown(self):
        # What PyTables does.
        for name in self.__dict__:
            setattr(self, name, None)


def suite():
    both = unittest.TestSuite()
    for _ in range(2):
        both.addTest(unittest.defaultTestLoader.loadTestsFromTestCase(Case))
    return both
