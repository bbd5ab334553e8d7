"""What the Python kernels share: options, timing, expected values, and the result line (as the C kernels print it)."""

import argparse
import json
import resource
import time
import zlib

import numpy as np


def options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--file", required=True)
    parser.add_argument("--size", type=size, default=1 << 20, help="bytes of a variable on a rank in a step, about")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--phases", default="write,verify", help="of write and verify")
    parser.add_argument("--independent", action="store_true")
    parser.add_argument("--chunks", action="store_true", help="chunked datasets")
    return parser.parse_args()


def size(text):
    unit = "KMG".find(text[-1]) + 1
    return int(text[:-1] if unit else text) << 10 * unit


def values(name, step, indices, dtype):
    """Whole numbers below 2^22 that follow from the name, the step and the index in the dataset."""
    tag = (zlib.crc32(name.encode()) + step * 0x9E3779B9) & 0xFFFFFFFF
    mixed = (indices.astype(np.uint64) * np.uint64(2654435761) + np.uint64(tag)) & np.uint64(0xFFFFFFFF)
    return ((mixed ^ (mixed >> np.uint64(15))) & np.uint64(0x3FFFFF)).astype(dtype)


class Result:
    """Seconds by kind of call, wrong elements, and the line that is printed at the end."""

    def __init__(self, kernel, ranks=1, gather=lambda values: [values], rank=0):
        self.kernel, self.ranks, self.rank, self.gather = kernel, ranks, rank, gather
        self.seconds, self.errors, self.bytes, self.verified = {}, 0, 0, None

    def timed(self, kind):
        return _Timed(self.seconds, kind)

    def check(self, name, found, wanted):
        wrong = int(np.count_nonzero(np.asarray(found) != wanted))
        if wrong and not self.errors:
            print(f"rank {self.rank}: {name} has {wrong} wrong elements", flush=True)
        self.errors += wrong
        self.verified = True

    def finish(self):
        """Prints the line on rank 0; the exit status."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        every = self.gather((self.seconds, self.errors, self.bytes, peak))
        errors = sum(rank[1] for rank in every)
        if self.rank == 0:
            seconds = {kind: max(rank[0].get(kind, 0) for rank in every) for kind in self.seconds}
            print(json.dumps({
                "kernel": self.kernel, "ranks": self.ranks, "bytes": sum(rank[2] for rank in every),
                "writes": [seconds], "peak_bytes": sum(rank[3] for rank in every),
                "verified": self.verified and errors == 0, "errors": errors,
            }), flush=True)
        return 1 if errors else 0


class _Timed:
    def __init__(self, seconds, kind):
        self.seconds, self.kind = seconds, kind

    def __enter__(self):
        self.begun = time.perf_counter()

    def __exit__(self, *_):
        self.seconds[self.kind] = self.seconds.get(self.kind, 0.0) + time.perf_counter() - self.begun
