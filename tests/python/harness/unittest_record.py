"""Runs the suites of unittest modules and records outcomes: `python -m harness.unittest_record MODULE...`.

Each module has a function `suite()`, as those of PyTables do.
"""

import importlib
import sys
import traceback
import unittest

from harness import record


class Result(unittest.TestResult):
    def __init__(self, record):
        super().__init__()
        self.record = record
        self.name = ""
        self.words = []

    def startTest(self, test):
        super().startTest(test)
        # PyTables clears the attributes of a test when it is done.
        self.name, self.words = test.recorded_name, []
        self.record.start(self.name)

    def stopTest(self, test):
        super().stopTest(test)
        words = list(dict.fromkeys(word for word, _ in self.words)) or ["passed"]
        self.record.finish(self.name, ", ".join(words), "\n".join(text for _, text in self.words))

    def addError(self, test, error):
        if isinstance(test, unittest.TestCase):
            self._failed(error)
        else:
            # A fixture of a class or module: it has a name, no start and no stop.
            self.record.finish(str(test), f"failed {error[0].__name__}", "".join(traceback.format_exception(*error)))

    def addFailure(self, test, error):
        self._failed(error)

    def addSubTest(self, test, subtest, error):
        if error:
            self._failed(error)

    def addSkip(self, test, reason):
        self.words.append(("skipped", reason))

    def addExpectedFailure(self, test, error):
        self.words.append(("xfailed", ""))

    def addUnexpectedSuccess(self, test):
        self.words.append(("xpassed", ""))

    def _failed(self, error):
        self.words.append((f"failed {error[0].__name__}", "".join(traceback.format_exception(*error))))


def tests(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests(test)
        else:
            yield test


def main(modules):
    result = Result(record.from_environment())
    wanted = unittest.TestSuite()
    for module in modules:
        for test in tests(importlib.import_module(module).suite()):
            name = result.record.name(test.id())
            if name not in result.record.done:
                # On the test itself: equal tests, of one class made twice, are different tests here.
                test.recorded_name = name
                wanted.addTest(test)
    wanted.run(result)
    result.record.end()


if __name__ == "__main__":
    main(sys.argv[1:])
