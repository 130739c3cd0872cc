# SPDX-License-Identifier: Apache-2.0
"""An upload gets the verdict of `dnp-telemetry validate`, and each download is what the command prints."""

import json
import re

import pytest
from selenium.webdriver.common.keys import Keys

from conftest import samples
from service import command, eventually

# A log without times has those of its judgement, which differ.
TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")

SHOWN = """
  const texts = selector => [...document.querySelectorAll(selector)].map(each => each.textContent.trim());
  const marks = [...document.querySelectorAll("table.cycles > tbody > tr:not(.why) .pill")].map(each => each.textContent);
  return {verdict: texts(".judged .big")[0], outcomes: marks, violations: texts(".hint p:first-child b"),
    counters: Object.fromEntries([...document.querySelectorAll("section.w6 table tr")].filter(row => row.cells[0]
      && row.cells[0].tagName === "TD").map(row => [row.cells[0].textContent, row.cells[1].textContent]))};
"""


def upload(page, path, verdict=True):
    """Chooses a file, as a person does by the file dialogue."""
    page.open("/judge").settle()
    page.find("#file").send_keys(str(path))
    page.wait("!!document.querySelector('.judged, [role=alert]')", f"{path.name} is judged")
    if verdict:
        assert not page.text("[role=alert]")


def judged(path):
    return json.loads(command("validate", "-", "--format", "json", stdin=path.read_bytes()))


@pytest.mark.parametrize("path", samples(), ids=lambda path: path.name)
def test_an_upload_shows_the_verdict_of_the_command(page, path):
    upload(page, path)
    expected, shown = judged(path), page.js(SHOWN)
    assert shown["verdict"] == expected["verdict"]
    both = expected["cycles"] + expected.get("runs", [])
    assert len(shown["outcomes"]) == len(both)
    for text, cycle in zip(shown["outcomes"], both):
        assert text.split(", ")[0] == cycle["outcome"]
    violations = [each for cycle in both for each in cycle["violations"]]
    assert len(shown["violations"]) == len(violations)
    for text, violation in zip(shown["violations"], violations):
        name = violation["violation"].replace("_", " ")
        assert text.startswith(f"{violation['bucket']}, {name}"), (text, violation)
    lines = [f"line {each['line']}" for each in violations if each.get("line") and not each.get("at")]
    told = page.text(".hint")
    assert all(line in told for line in lines)
    for name, number in expected["counters"].items():
        if isinstance(number, int):
            assert shown["counters"][name] == f"{number:,}"
    for name, number in expected["lines"].items():
        assert shown["counters"][name] == f"{number:,}"


DOWNLOADS = [
    ("JSON", "judgement.json", ["validate", "-", "--format", "json"]),
    ("JUnit", "judgement.xml", ["validate", "-", "--junit", "-"]),
    ("Markdown", "test-run.md", ["report", "-"]),
    ("Export Test Results", "DNP_TestRunArtifact.json", ["report", "-", "--format", "json"]),
]


def download(page, name, file):
    target = page.downloads / file
    target.unlink(missing_ok=True)
    page.named(name, "button").click()

    def complete():
        unfinished = [each for each in page.downloads.iterdir() if each.suffix in (".part", ".crdownload")]
        return not unfinished and target.exists() and target.stat().st_size > 0

    eventually(complete, f"{file} is downloaded")
    return target.read_bytes()


@pytest.mark.parametrize("path", [each for each in samples() if "bare" not in each.name], ids=lambda path: path.name)
def test_each_download_is_byte_by_byte_what_the_command_prints(page, path):
    upload(page, path)
    for name, file, arguments in DOWNLOADS:
        printed = command(*arguments, stdin=path.read_bytes())
        if printed:
            assert download(page, name, file) == printed, name
        else:
            page.named(name, "button").click()
            page.wait("!!document.querySelector('.judged [role=alert]')", f"{name} is refused in words")
            assert "test run" in page.text(".judged [role=alert]")


def test_a_log_without_times_downloads_what_the_command_prints_but_for_the_times(page):
    path = next(each for each in samples() if each.name == "happy-bare.log")
    upload(page, path)
    for name, file, arguments in DOWNLOADS[:2]:
        printed = command(*arguments, stdin=path.read_bytes()).decode()
        assert TIMES.sub("T", download(page, name, file).decode()) == TIMES.sub("T", printed)


def test_the_options_of_a_judgement_hold_for_its_downloads(page):
    path = next(each for each in samples() if each.name == "network-failure.log")
    upload(page, path)
    page.named("strict: bucket B counts like A", "label").click()
    page.named("Require", "summary").click()
    page.named("used", "fieldset label").click()
    page.wait("/require used/.test(document.querySelector('main')?.innerText)", "the requirement is judged")
    printed = command("validate", "-", "--format", "json", "--strict", "--require", "used", stdin=path.read_bytes())
    assert download(page, "JSON", "judgement.json") == printed


def test_lines_are_pasted_and_judged_by_the_keyboard_alone(page):
    path = next(each for each in samples() if each.name == "happy-stamped.log")
    page.open("/judge").settle()
    page.press("/")
    page.wait("document.activeElement.tagName === 'TEXTAREA'", "a slash leads to the field")
    page.js("document.activeElement.value = arguments[0]", path.read_text())
    page.press(Keys.TAB, Keys.ENTER)
    page.wait("!!document.querySelector('.judged')", "the lines are judged")
    assert page.text(".judged .big") == "coherent"


def test_a_dropped_file_is_judged_and_nothing_of_it_is_stored(page, service):
    path = next(each for each in samples() if each.name == "happy-stamped.log")
    before = service.get("/api/v1/health")["ledger"]["sequence"]
    page.open("/judge").settle()
    page.js("""
        const transfer = new DataTransfer();
        transfer.items.add(new File([arguments[0]], "dropped.log"));
        document.querySelector(".drop").dispatchEvent(
          new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));""", path.read_text())
    page.wait("/Judged dropped.log/.test(document.querySelector('main')?.innerText)", "the file is judged")
    assert page.text(".judged .big") == "coherent"
    assert service.get("/api/v1/health")["ledger"]["sequence"] == before
