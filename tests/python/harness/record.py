"""The outcome of each test, written as it happens, so that a crash loses nothing and names its test.

One JSON object per line: `{"start": ID}` before a test, `{"id": ID, "outcome": ..., "text": ..., "cpu": ...}`
after it, `{"pid": ..., "libraries": {PATH: BOOL}, "cpu": ...}` at the end: which libhdf5 used the connector that this
run is meant to use, and the seconds of processor time. A file without that last line belongs to a process that did
not end by itself.
"""

import faulthandler
import json
import os
import sys
import time

from harness import active

# A test that takes longer hangs: its process says where and ends.
TEST_SECONDS_MAX = 300


class Record:
    def __init__(self, path, connector, done=()):
        self.connector = connector
        self.done = set(done)
        self._file = open(path, "a")
        self._seen = {}
        self._started = time.process_time()
        # Not the standard error as tests see it, which they may capture or close.
        self._stderr = os.fdopen(os.dup(sys.__stderr__.fileno()), "w")

    def name(self, test):
        """The test's identifier; one that comes again gets a number."""
        count = self._seen[test] = self._seen.get(test, 0) + 1
        return test if count == 1 else f"{test} #{count}"

    def start(self, test):
        faulthandler.dump_traceback_later(TEST_SECONDS_MAX, exit=True, file=self._stderr)
        self._write({"start": test})
        self._started = time.process_time()

    def finish(self, test, outcome, text=""):
        cpu = round(time.process_time() - self._started, 3)
        self._write({"id": test, "outcome": outcome, "text": text[-6000:], "cpu": cpu})

    def end(self):
        faulthandler.cancel_dump_traceback_later()
        uses = {path: active.uses(path, self.connector) for path in active.libraries()}
        self._write({"pid": os.getpid(), "libraries": uses, "cpu": time.process_time()})
        self._file.close()

    def _write(self, line):
        # One write per line, straight to the kernel: what was said survives any crash.
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def from_environment():
    """As the unit that started this process says."""
    rank = os.environ.get("PMI_RANK", "0")
    with open(os.environ["HARNESS_JOB"]) as job:
        job = json.load(job)
    return Record(f"{job['results']}.{rank}", job["connector"], job["done"])
