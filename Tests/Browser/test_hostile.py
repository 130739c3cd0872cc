# SPDX-License-Identifier: Apache-2.0
"""What phones and uploads say is shown as text: nothing of it runs, hides or breaks the layout."""

import contextlib
import http.server
import json
import re
import threading
import urllib.error
import urllib.request

import pytest

import events
from conftest import VIEWS, samples
from service import Service, eventually, with_closed_cycles

TAGS = '<img src=x onerror="window.canary=1"><script>window.canary=2</script><svg onload=window.canary=3>'
HOSTILE = [
    TAGS,
    '"><iframe srcdoc="<script>parent.canary=4</script>"></iframe><a href="javascript:window.canary=5">x</a>',
    "user\u202egnp.exe\u202c \u2066isolated\u200b\u200f",
    "\u001b[31mred\u001b[0m\u0007 \u001b]8;;http://127.0.0.1/\u0007link\u001b]8;;\u0007",
    "NUL\u0000inside",
    "x" * 10_000,
    "a\u0301\u0302\u0303\u0304\u0305\u0306" * 200,
]
# An event is refused if these have not their form.
STRICT = ("contentHash", "scheduleHash", "network", "installationId", "eventId")
WIDTHS = (360, 768, 1440)
FIELDS = ("scheduleId", "eventId", "installationId", "platform", "appVersion", "osVersion", "deviceModel", "reason",
          "error", "contentHash", "scheduleHash", "network", "message", "unknownField")
# What only a parser of HTML would have made of a text.
MADE = "return [...document.querySelectorAll('body img, body script, iframe, object, embed, [onerror], [onload], " \
       "body style, a[href^=\"javascript\" i]')].map(each => each.outerHTML.slice(0, 200))"


def holds(page):
    """Nothing was made of a text, and the document is nowhere wider than the window."""
    assert page.js(MADE) == []
    for width in WIDTHS:
        page.view(width)
        wide = page.js("""return document.documentElement.scrollWidth <= innerWidth ? [] :
            [...document.querySelectorAll("body *")].filter(each => each.checkVisibility()
              && each.getBoundingClientRect().right > innerWidth + 1).slice(-6).map(each => each.outerHTML.slice(0, 120))
            """)
        assert wide == [], f"{width} pixels"
    # Bidi controls and those of terminals would hide or reorder what stands beside them.
    assert not re.search("[\u0000\u0007\u001b\u202e\u2066\u200b]", page.js("return document.body.textContent"))
    assert page.problems() == []


def hostile_events():
    """Each text in every field of every stage of a cycle; and each in one field at a time, which must not refuse it."""
    for index, text in enumerate(HOSTILE):
        short = text.encode()[:120].decode(errors="ignore")
        for each in events.cycles(1):
            yield each | {name: short for name in FIELDS if name not in STRICT} | {"scheduleId": f"{index}{short}"}
        for name in FIELDS:
            yield {"event": "prefetch_executed", "timestamp": events.stamp(4), "scheduleId": f"one-{index}-{name}", name: text}


@pytest.fixture(scope="module")
def hostile_service(tmp_path_factory):
    running = Service(tmp_path_factory.mktemp("hostile"))
    body = "\n".join(map(json.dumps, hostile_events())).encode()
    running.start(seconds_ago=3 * 3600)
    answer = json.loads(running.post(body))
    assert answer["accepted"] > 60, answer
    running.end(15)
    running.start()
    eventually(lambda: running.get("/api/v1/overview")["status"]["indexedCycles"] >= len(HOSTILE), "cycles closed")
    yield running
    running.end()


@pytest.mark.parametrize("path", VIEWS[:2] + ["/cycles/3", "/live", "/health"])
def test_hostile_texts_in_every_field_of_every_event_are_text_and_break_no_layout(page, hostile_service, path):
    page.base = hostile_service.url
    page.open(path).settle()
    if path == "/live":
        page.wait("/Listening/.test(document.querySelector('main')?.innerText)", "the stream is open")
        hostile_service.post("\n".join(map(json.dumps, hostile_events())).encode())
        page.wait("document.querySelectorAll('.events tbody tr').length > 5", "the events are shown")
    for summary in page.driver.find_elements("css selector", "main details:not([open], .menu) > summary")[:20]:
        page.js("arguments[0].parentElement.open = true", summary)
    holds(page)


class HostileProxy(http.server.BaseHTTPRequestHandler):
    """Stands in front of a service, and puts hostile text behind every string of its answers but times and kinds."""

    target = ""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items()
                   if name.lower() in ("accept", "content-type", "sec-fetch-site")}
        request = urllib.request.Request(self.target + self.path, data=body or None, headers=headers,
                                         method=self.command)
        try:
            answer = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            if answer.headers["Content-Type"] == "text/event-stream":
                content = b'event: end\ndata: ' + json.dumps({"reason": TAGS * 20}).encode() + b"\n\n"
            else:
                content = answer.read()
            if "json" in answer.headers["Content-Type"]:
                content = json.dumps(spoil(json.loads(content))).encode()
            self.send_response(answer.status)
            for name in ("Content-Type", "Content-Security-Policy", "Cache-Control"):
                if answer.headers[name]:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    do_POST = do_GET


def spoil(value, count=[0]):
    if isinstance(value, dict):
        return {name: spoil(each) for name, each in value.items()}
    if isinstance(value, list):
        return [spoil(each) for each in value]
    if not isinstance(value, str) or re.match(r"\d{4}-\d\d-\d\dT", value):
        return value
    count[0] += 1
    return value + HOSTILE[count[0] % len(HOSTILE)]


@contextlib.contextmanager
def hostile_proxy(target):
    handler = type("Handler", (HostileProxy,), {"target": target})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.parametrize("path", VIEWS)
def test_hostile_texts_in_every_string_of_the_api_are_text_and_break_no_layout(page, service, path):
    with hostile_proxy(service.url) as page.base:
        page.open(path)
        page.wait("!!document.querySelector('main h1')", "the view shows")
        page.wait("!/Asking (for|the)|asking the service/.test(document.body.innerText)", "the view is complete")
        if path == "/judge":
            page.find("#file").send_keys(str(next(each for each in samples() if each.name == "auth-failure.log")))
            page.wait("!!document.querySelector('.judged')", "the log is judged")
        if path != "/live":
            page.wait("/window.canary=|U\\+202E|[\\u241b]/.test(document.body.textContent)", "the text is shown as text")
        holds(page)
        page.driver.get("about:blank")


@pytest.mark.parametrize("text", HOSTILE, ids=["tags", "attributes", "bidi", "ansi", "nul", "long", "marks"])
def test_a_hostile_log_with_a_hostile_name_is_judged_and_shown_as_text(page, text):
    lines = [f"2026-11-22T05:{minute}:00Z {text} [DNP-FETCH] BGTask handler invoked {text} (id={text})\n"
             for minute in range(10, 20)]
    lines += [json.dumps({name: text for name in FIELDS} | {"event": "prefetch_failure", "scheduleId": text[:40],
                                                            "timestamp": "2026-11-22T06:00:00Z"}) + "\n"]
    happy = next(each for each in samples() if each.name == "auth-failure.log").read_text()
    page.open("/judge").settle()
    page.js("""
        const transfer = new DataTransfer();
        transfer.items.add(new File([arguments[0]], arguments[1]));
        const file = document.getElementById("file");
        file.files = transfer.files;
        file.dispatchEvent(new Event("change"));""", happy + "".join(lines), text)
    page.wait("!!document.querySelector('.judged, [role=alert]')", "the log is judged")
    page.wait("/Judged /.test(document.querySelector('main')?.innerText)", "the name is shown")
    if text == TAGS:
        assert TAGS[:40] in page.text("main [role=status]")
    holds(page)
