# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a browser of each kind, a service with closed cycles, and the samples."""

import os
import pathlib
import shutil

import pytest

import browsers
import events
from service import ROOT, Service, with_closed_cycles

CYCLES = 120
VIEWS = ["/", "/cycles", f"/cycles/{CYCLES - 4}", "/live", "/judge", "/health"]
PROGRAMS = ["chromium", "chromedriver", "firefox-esr", "clang"]


def pytest_sessionstart():
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        pytest.exit(f"{', '.join(missing)} is missing: `make browser` installs what is needed.", returncode=1)


def pytest_collection_modifyitems(items):
    """One process for each browser and one for the rest, so that each starts its browser once."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        name = parameters.params.get("program", "api") if parameters else "api"
        item.add_marker(pytest.mark.xdist_group(name))


def pytest_generate_tests(metafunc):
    if "program" in metafunc.fixturenames:
        metafunc.parametrize("program", browsers.STARTS, scope="session")


@pytest.fixture(scope="session")
def tab(program, tmp_path_factory):
    with browsers.browser(program, tmp_path_factory.mktemp(program)) as page:
        yield page


@pytest.fixture
def page(tab, service):
    """A page of the service. Afterwards nothing may have been blocked, thrown or run that came from outside."""
    tab.base = service.url
    tab.view(1280)
    tab.problems()
    yield tab
    assert tab.problems() == []
    tab.driver.get("about:blank")
    tab.problems()


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    running = Service(tmp_path_factory.mktemp("service"))
    try:
        yield with_closed_cycles(running, events.cycles(CYCLES), CYCLES)
    finally:
        running.end()


@pytest.fixture
def own_service(tmp_path):
    """A service that a test may kill."""
    running = Service(tmp_path)
    yield running
    running.end()


def samples():
    """Each device log: those of the Swift tests, and those of the folder that DNP_SAMPLES names."""
    folders = [ROOT / "Tests/IntegrationTests/Fixtures/logs", ROOT / "Tests/IntegrationTests/Fixtures/qa-hour"]
    beside = pathlib.Path(os.environ.get("DNP_SAMPLES") or ROOT.parent / "shared/samples")
    folders += [beside / name for name in ("logs", "judge", "refresh") if (beside / name).is_dir()]
    found = {}
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.suffix in (".log", ".ndjson"):
                found.setdefault(path.name, path)
    assert len(found) >= 8
    return list(found.values())
