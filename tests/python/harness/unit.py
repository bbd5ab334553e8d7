"""One process, or one MPI job, of tests in one mode, to its end: a crash is one test's outcome, the rest goes on."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PROCESS_SECONDS_MAX = 1800
# The name under which a process as a whole has an outcome.
PROCESS = "the process"
# After so many crashes the tests that are left count as not run.
ATTEMPTS_MAX = 12


@dataclass(frozen=True)
class Environment:
    """A Python environment, as `cargo xtask paths --json` describes it."""

    name: str
    python: str
    variables: dict
    mpiexec: tuple = ()

    @property
    def packages(self):
        return next(Path(self.python).parent.parent.glob("lib/python3*/site-packages"))


@dataclass(frozen=True)
class Mode:
    """Natively, or through a connector."""

    name: str
    connector: str
    # What the environment variables say; None leaves them unset.
    string: str | None = None
    plugins: str | None = None
    # Whether the connector writes a line for each process that it served.
    reports: bool = False

    def variables(self, report):
        string = {"HDF5_VOL_CONNECTOR": self.string.format(report=report)} if self.string else {}
        return string | ({"HDF5_PLUGIN_PATH": self.plugins} if self.plugins else {})


@dataclass(frozen=True)
class Unit:
    """Tests that run in one process, or on the ranks of one MPI job."""

    environment: Environment
    name: str
    command: tuple
    ranks: int = 0
    # Tests that take too long for what they tell.
    skipped: tuple = ()


@dataclass
class Outcome:
    outcome: str
    text: str = ""
    # The process did not survive the test, so nothing can be said about it.
    cut_short: bool = False


@dataclass
class Run:
    """What came of a unit in a mode."""

    outcomes: dict = field(default_factory=dict)
    # Why the run does not count: the connector was not (or was) in use.
    problems: list = field(default_factory=list)
    calls: dict = field(default_factory=dict)
    kept: Path | None = None
    # Seconds of processor time, which other programs on the machine do not stretch.
    cpu: float = 0.0


def run(unit, mode, folder):
    """Runs the unit, again after each crash without the tests that are done."""
    folder = folder / unit.environment.name / unit.name / mode.name
    (folder / "kept").mkdir(parents=True)
    result = Run(kept=folder / "kept")
    for attempt in range(1, ATTEMPTS_MAX + 1):
        before = len(result.outcomes)
        process = _Process(unit, mode, folder / str(attempt), result)
        if process.run() or len(result.outcomes) == before:
            break
    result.problems += process.inactive()
    return result


class _Process:
    def __init__(self, unit, mode, folder, result):
        self.unit, self.mode, self.folder, self.result = unit, mode, folder, result
        self.report = folder / "report"
        self.ends = []
        folder.mkdir()

    def run(self):
        """True if the tests ran to their end."""
        status = self._spawn()
        log = (self.folder / "log").read_text(errors="replace")
        how = _ending(status, log)
        unfinished = self._collect(how)
        if self._complete() or not unfinished:
            messages = log.count("HDF5-DIAG") + log.count("infinite loop closing library")
            said = "ended" if status >= 0 else how
            text = f"{self.folder / 'log'}:\n{log[-3000:]}"
            self.result.outcomes[PROCESS] = Outcome(f"{said}, {messages} messages of HDF5", text)
        return self._complete()

    def _complete(self):
        return len(self.ends) == max(self.unit.ranks, 1)

    def _spawn(self):
        (self.folder / "tmp").mkdir()
        job = {
            "results": str(self.folder / "results"),
            "connector": self.mode.connector,
            "done": [*self.unit.skipped, *sorted({self._test(name) for name in self.result.outcomes})],
        }
        (self.folder / "job").write_text(json.dumps(job))
        launch = [*self.unit.environment.mpiexec, "-n", str(self.unit.ranks)] if self.unit.ranks else []
        command = [*launch, self.unit.environment.python, *self.unit.command]
        with open(self.folder / "log", "wb") as log:
            child = subprocess.Popen(
                command, cwd=self.folder, env=self._variables(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
            try:
                return child.wait(PROCESS_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                child.terminate()
                time.sleep(5)
                child.kill()
                return child.wait()

    def _variables(self):
        cleared = ("HDF5_VOL_CONNECTOR", "HDF5_PLUGIN_PATH", "HDF5_PLUGIN_PRELOAD", "HDF5_DRIVER")
        inherited = {key: value for key, value in os.environ.items() if key not in cleared}
        return (
            inherited
            | self.unit.environment.variables
            | self.mode.variables(self.report)
            | {
                "PYTHONPATH": str(HERE),
                "PYTHONHASHSEED": "0",
                "TMPDIR": str(self.folder / "tmp"),
                "HARNESS_JOB": str(self.folder / "job"),
                "HARNESS_KEPT": str(self.result.kept),
                # Threads of numerical libraries would compete with the other processes.
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
            }
        )

    def _collect(self, how):
        """Adds the outcomes of all ranks; true if a test was cut short."""
        unfinished = False
        for path in sorted(self.folder.glob("results.*")):
            rank, started = path.suffix[1:], None
            for line in map(json.loads, path.read_text().splitlines()):
                if "start" in line:
                    started = line["start"]
                elif "id" in line:
                    started = None
                    self.result.outcomes[self._name(line["id"], rank)] = Outcome(line["outcome"], line["text"])
                else:
                    self.ends.append(line)
                    self.result.cpu += line["cpu"]
            if started:
                unfinished = True
                log = self.folder / "log"
                text = f"{log}:\n{log.read_text(errors='replace')[-6000:]}"
                self.result.outcomes[self._name(started, rank)] = Outcome(how, text, cut_short=True)
        return unfinished

    def _name(self, test, rank):
        return f"{test} on rank {rank} of {self.unit.ranks}" if self.unit.ranks else test

    def _test(self, name):
        """The other way round: what one rank has done, or died of, no rank does again."""
        return name.rpartition(" on rank ")[0] if self.unit.ranks and " on rank " in name else name

    def inactive(self):
        """Which proofs are missing that tests ran, and that every library gave their files to the mode's connector."""
        if not self._complete():
            yield f"the tests did not come to their end ({self.folder / 'log'})"
        if not self.result.outcomes.keys() - {PROCESS}:
            yield f"no test ran ({self.folder / 'log'})"
        lines = [json.loads(line) for line in self.report.read_text().splitlines()] if self.report.exists() else []
        lines = [line for line in lines if "pid" in line]  # others are of files
        for end in self.ends:
            if not end["libraries"]:
                yield "no libhdf5 was loaded"
            for path, used in end["libraries"].items():
                if not used:
                    yield f"{path} did not use the connector {self.mode.connector}"
            served = [line for line in lines if line["pid"] == end["pid"]]
            for line in served:
                for call, count in line["calls"].items():
                    self.result.calls[call] = self.result.calls.get(call, 0) + count
            with_files = [line for line in served if any(call.startswith("file ") for call in line["calls"])]
            if self.mode.reports and len(with_files) != len(end["libraries"]):
                yield (
                    f"process {end['pid']} holds {len(end['libraries'])} libhdf5, and {self.report} shows files of "
                    f"{len(with_files)}"
                )


def _ending(status, log):
    if "Timeout (" in log:
        return "hung"
    if status < 0:
        return f"died of {signal.Signals(-status).name}"
    return f"process ended with {status}"
