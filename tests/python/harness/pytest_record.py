"""pytest plugin that records outcomes: `-p harness.pytest_record`."""

import pytest

from harness import record


def pytest_configure(config):
    config.pluginmanager.register(Recorder(record.from_environment()), "sago-recorder")


class Recorder:
    def __init__(self, record):
        self.record = record
        self.phases = []

    def pytest_collection_modifyitems(self, config, items):
        done = [item for item in items if item.nodeid in self.record.done]
        config.hook.pytest_deselected(items=done)
        items[:] = [item for item in items if item.nodeid not in self.record.done]

    def pytest_collectreport(self, report):
        if report.failed and report.nodeid not in self.record.done:
            self.record.finish(report.nodeid, "not collected", report.longreprtext)

    def pytest_runtest_logstart(self, nodeid):
        self.phases = []
        self.record.start(nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        error = call.excinfo.typename if call.excinfo and report.failed else ""
        self.phases.append((report, error))
        return report

    def pytest_runtest_logfinish(self, nodeid):
        words = [outcome(report, error) for report, error in self.phases]
        words = list(dict.fromkeys(w for w in words if w != "passed")) or ["passed"]
        text = "\n".join(report.longreprtext for report, _ in self.phases if report.failed)
        self.record.finish(nodeid, ", ".join(words), text)

    # Last of all, after every fixture and plugin has let go of its files.
    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        self.record.end()


def outcome(report, error):
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return f"{'failed' if report.when == 'call' else report.when + ' failed'} {error}"
    return report.outcome
