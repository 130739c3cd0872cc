# SPDX-License-Identifier: Apache-2.0
"""The live view under a load that nobody can read, and across a kill of the service."""

import threading
import time

from selenium.webdriver.common.keys import Keys

import events
from service import eventually, with_closed_cycles

RATE, SECONDS, BATCH = 5_000, 4, 500
COUNTS = "return [...document.querySelectorAll('main section > p')].map(each => each.textContent).join(' ')"
FIRST_ROWS = "return [...document.querySelectorAll('.events tbody tr')].slice(0, 20).map(each => each.textContent)"


def number(page, before):
    """The number in front of words in the line of counts."""
    script = "return (arguments[0].match(new RegExp('([\\\\d,]+) ' + arguments[1])) ?? ['', '0'])[1].replaceAll(',', '')"
    return int(page.js(script, page.js(COUNTS), before))


def load(service, prefix):
    """Posts events at a steady rate; returns how many in which time."""
    began, first = time.monotonic(), 0
    while first < RATE * SECONDS:
        service.post(events.batch(first, BATCH, prefix))
        first += BATCH
        time.sleep(max(0, began + first / RATE - time.monotonic()))
    return first, time.monotonic() - began


def test_events_show_as_they_are_committed_and_a_filter_in_the_address_holds(page, service, program):
    page.open(f"/live?schedule=seen-{program}-1").settle()
    page.wait("/Listening/.test(document.querySelector('main')?.innerText)", "the stream is open")
    service.post(events.batch(0, 3, f"seen-{program}"))
    page.wait("document.querySelectorAll('.events tbody tr').length === 1", "the event that the filter lets pass")
    assert f"seen-{program}-1" in page.text(".events tbody")
    page.driver.refresh()
    page.settle()
    assert f"seen-{program}-1" in page.text("[aria-label='Filters in force']")


def test_five_thousand_events_a_second_leave_the_view_usable_pausable_and_exact_about_what_it_left_out(
    page, service, program
):
    page.open("/live").settle()
    page.wait("/Listening/.test(document.querySelector('main')?.innerText)", "the stream is open")
    sent = []
    sender = threading.Thread(target=lambda: sent.append(load(service, f"load-{program}")))
    sender.start()
    page.wait(lambda: number(page, "stored and not shown") > RATE / 2, "the view tells what it leaves out")
    page.named("Pause", "button").click()
    page.wait("/paused/.test(document.querySelector('main')?.innerText)", "the view says that it pauses")
    before, slowest = page.js(FIRST_ROWS), 0
    page.wait(lambda: number(page, "came since") > 0, "what comes while it pauses is counted")
    while sender.is_alive():
        asked = time.monotonic()
        assert page.js(FIRST_ROWS) == before, "rows stay while the view pauses"
        slowest = max(slowest, time.monotonic() - asked)
    assert slowest < 5, "the page answers under load"
    [(count, seconds)] = sent
    assert seconds < 3 * SECONDS, f"{count} events took {seconds} s"
    page.named("Resume", "button").send_keys(Keys.SPACE)
    page.wait(lambda: page.js(FIRST_ROWS) != before, "the newest show when it goes on")
    page.wait(lambda: number(page, "events?") + number(page, "stored and not shown") == count,
              f"shown and not shown are the {count} that were sent")
    assert page.js("return document.querySelectorAll('.events tbody tr').length") <= 500
    assert f"load-{program}-{count - 1}" in page.text(".events tbody tr:first-child")


def test_a_kill_of_the_service_is_told_and_after_its_restart_every_view_has_the_same_cycles_and_numbers(
    page, own_service
):
    with_closed_cycles(own_service, events.cycles(30), 30)
    page.base = own_service.url
    count = own_service.get("/api/v1/overview")["total"]["accepted"] + 50
    own_service.post(events.batch(0, 50))

    def shown():
        page.open("/cycles?outcome=fallback").settle()
        found = [page.text(".cycles tbody"), page.text("main .about")]
        page.open("/").settle()
        return found + [page.text("ol.funnel .n"), page.text("main table")]

    def facts():
        overview = own_service.get("/api/v1/overview")
        return [overview["total"], overview["day"]["outcomes"], own_service.get("/api/v1/cycles?limit=200")["cycles"]]

    eventually(lambda: own_service.get("/api/v1/overview")["total"]["accepted"] == count, "the numbers are up to date")
    before, numbers = shown(), facts()
    page.open("/live").settle()
    page.wait("/Listening/.test(document.querySelector('main')?.innerText)", "the stream is open")
    own_service.end()
    page.wait("/does not answer/.test(document.getElementById('banner')?.innerText)", "the page says what is wrong")
    own_service.start()
    page.wait("document.getElementById('banner')?.innerText === ''", "the page recovers by itself")
    page.wait("/Listening/.test(document.querySelector('main')?.innerText)", "the stream is open again", 60)
    own_service.post(events.batch(50, 1, "after"))
    page.wait("/after-50/.test(document.querySelector('.events')?.innerText)", "an event after the restart shows")
    eventually(lambda: own_service.get("/api/v1/overview")["total"]["accepted"] == count + 1, "it is counted")
    again, after = shown(), facts()
    moved = {name: numbers[0][name] + 1 for name in ("scheduled", "received", "accepted")}
    assert after == [numbers[0] | moved, *numbers[1:]]
    assert again[:2] == before[:2]
