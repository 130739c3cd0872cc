# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the DevTools protocol: its clock, zone, size and colours are given."""

import base64
import itertools
import json
import pathlib
import subprocess
import time
import urllib.request

import websocket

READY_SECONDS = 20
# `Date` alone: the page's timers go on.
CLOCK = """
const moment = %d;
globalThis.Date = class extends Date {
  constructor(...given) { given.length > 0 ? super(...given) : super(moment); }
  static now() { return moment; }
};
"""


class Browser:
    def __init__(self, folder):
        self.numbers = itertools.count(1)
        self.events = []
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-lcd-text",
            "--font-render-hinting=none", "--force-color-profile=srgb", "--disable-background-networking",
            "--remote-debugging-port=0", f"--user-data-dir={folder}",
        ]
        self.process = subprocess.Popen(["chromium", *options, "about:blank"], stderr=subprocess.DEVNULL)
        port = pathlib.Path(folder) / "DevToolsActivePort"
        deadline = time.monotonic() + READY_SECONDS
        while not (port.exists() and port.read_text().count("\n")):
            if time.monotonic() > deadline:
                raise SystemExit("Chromium does not start")
            time.sleep(0.05)
        with urllib.request.urlopen(f"http://127.0.0.1:{port.read_text().splitlines()[0]}/json/list") as answer:
            page = next(each for each in json.load(answer) if each["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=60, suppress_origin=True)
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def set_clock(self, moment, zone):
        self.call("Page.addScriptToEvaluateOnNewDocument", source=CLOCK % (moment.timestamp() * 1000))
        self.call("Emulation.setTimezoneOverride", timezoneId=zone)

    def set_screen(self, width, height, scale, scheme):
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address, ready):
        """Opens a page and waits until the script `ready` holds."""
        self.call("Page.navigate", url=address)
        deadline = time.monotonic() + READY_SECONDS
        while not self.run(f"document.readyState === 'complete' && Boolean({ready})"):
            if time.monotonic() > deadline:
                raise SystemExit(f"{address} does not become ready: {self.run('document.body.innerText')[:500]}")
            time.sleep(0.05)
        # What is observed is drawn with the next frames.
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))")

    def picture(self, height=None):
        """The page as PNG, from its top down to a height, or as far as it goes."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(height or size["height"], size["height"]), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        return base64.b64decode(data)

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
