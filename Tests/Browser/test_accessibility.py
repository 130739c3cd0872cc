# SPDX-License-Identifier: Apache-2.0
"""axe-core finds nothing in any view, light or dark, and without JavaScript the page says so and leads to the API."""

import importlib.util
import pathlib

import pytest

import browsers
from conftest import VIEWS, samples

AXE = pathlib.Path(importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]) / "axe.min.js"
# Without the details of what is well, which nobody reads and which take most of the time.
RUN = """
const done = arguments[0];
axe.run(document, {resultTypes: ["violations"]}).then(found => done(found.violations), error => done([{id: error}]))
"""


def findings(page):
    """What axe-core finds, as a rule and the elements that break it. The driver's scripts are not held by the policy."""
    page.js(AXE.read_text())
    found = page.driver.execute_async_script(RUN)
    return [(each["id"], [node["html"][:160] for node in each.get("nodes", [])]) for each in found]


@pytest.fixture(scope="module", params=["light", "dark"])
def themed(request, program, tmp_path_factory, service):
    with browsers.browser(program, tmp_path_factory.mktemp(request.param), dark=request.param == "dark") as page:
        page.base = service.url
        page.open("/")
        assert page.js("return matchMedia('(prefers-color-scheme: dark)').matches") == (request.param == "dark")
        yield page
        assert page.problems() == []


@pytest.mark.parametrize("path", VIEWS)
def test_axe_finds_nothing_in_a_view_whether_light_or_dark(themed, path):
    for width in (1280, 360):
        themed.view(width)
        themed.open(path).settle()
        for summary in themed.driver.find_elements("css selector", "details:not([open], .menu) > summary")[:6]:
            themed.js("arguments[0].parentElement.open = true", summary)
        assert findings(themed) == [], width
    themed.view(1280)


def test_axe_finds_nothing_in_a_judgement_with_violations_whether_light_or_dark(themed):
    path = next(each for each in samples() if each.name == "auth-failure.log")
    themed.open("/judge").settle()
    themed.find("#file").send_keys(str(path))
    themed.wait("!!document.querySelector('.judged')", "the log is judged")
    assert findings(themed) == []


def test_without_javascript_the_page_is_readable_says_so_and_leads_to_the_api(program, service, tmp_path):
    with browsers.browser(program, tmp_path, scripts=False) as page:
        for path in VIEWS:
            page.driver.get(service.url + path)
            text = page.find("main").text
            assert "needs JavaScript" in text
            assert not page.find("header").is_displayed(), "what needs JavaScript is not shown"
            links = [each.get_attribute("href") for each in page.driver.find_elements("css selector", "main a")]
            assert f"{service.url}/api/v1/openapi.json" in links
            assert all(service.status(each.removeprefix(service.url)) == 200 for each in links)
