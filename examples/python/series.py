"""A time series from serial h5py: frames appended to a growing dataset, with a table of scalars beside it."""

import sys

import h5py
import numpy as np

import kernel

SCALARS = np.dtype([("time", "f8"), ("energy", "f8"), ("step", "i8")])


def shape(opt):
    edge = max(int((opt.size / 4) ** 0.5), 1)
    return edge, edge


def frame(opt, step):
    rows, columns = shape(opt)
    return kernel.values("frames", step, np.arange(rows * columns).reshape(rows, columns), "f4")


def scalars(step):
    return np.array([(0.5 * step, 100.0 - step, step)], SCALARS)


def append(dataset, data, result):
    with result.timed("create"):
        dataset.resize(dataset.shape[0] + 1, axis=0)
    with result.timed("write"):
        dataset[-1:] = data
    result.bytes += data.nbytes


def write(opt, result):
    rows, columns = shape(opt)
    with result.timed("total"):
        with h5py.File(opt.file, "w") as file:
            frames = file.create_dataset("frames", (0, rows, columns), "f4", maxshape=(None, rows, columns),
                                         chunks=(1, rows, columns))
            table = file.create_dataset("scalars", (0,), SCALARS, maxshape=(None,), chunks=(64,))
            for step in range(opt.steps):
                append(frames, frame(opt, step)[None], result)
                append(table, scalars(step), result)
                with result.timed("flush"):
                    file.flush()


def verify(opt, result):
    with h5py.File(opt.file, "r") as file:
        result.check("length", len(file["frames"]), opt.steps)
        for step in range(opt.steps):
            result.check("frames", file["frames"][step], frame(opt, step))
            result.check("scalars", file["scalars"][step], scalars(step)[0])


def main():
    opt, result = kernel.options(__doc__), kernel.Result("py-series")
    if "write" in opt.phases:
        write(opt, result)
    if "verify" in opt.phases:
        verify(opt, result)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
