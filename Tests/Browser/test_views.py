# SPDX-License-Identifier: Apache-2.0
"""Each view has an address, works by the keyboard alone and needs nothing that the policy forbids."""

import pytest
from selenium.webdriver.common.keys import Keys

from conftest import CYCLES, VIEWS

# Each focus is noted with whether it can be seen: an outline on the element, or on the label of a hidden file input.
NOTE_FOCUS = """
  window.reached = new Map();
  window.describe = element => [element.tagName, element.textContent.trim().slice(0, 80), element.getAttribute("href"),
    element.type, element.closest("label")?.textContent].join("|");
  document.addEventListener("focusin", ({target}) => {
    const shown = target.classList.contains("unseen") ? target.nextElementSibling : target;
    const style = getComputedStyle(shown);
    const isSeen = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || target.id === "main";
    reached.set(describe(target), isSeen);
  });
  window.controls = () => [...document.querySelectorAll("a[href], button, input, textarea, summary, [tabindex='0']")]
    .filter(each => each.checkVisibility({visibilityProperty: true}) && !each.disabled).map(describe);
  return controls().length;
"""


@pytest.mark.parametrize("path", VIEWS)
def test_every_control_of_a_view_is_reached_by_the_tab_key_and_shows_its_focus(page, path):
    page.open(path).settle()
    count = page.js(NOTE_FOCUS)
    assert count > 8
    missed = []
    for _ in range(3):
        # Areas that scroll take the focus, too.
        page.press(*[Keys.TAB] * (count + 4))
        missed = page.js("return controls().filter(each => !reached.has(each))")
        if not missed:
            break
    assert missed == []
    assert page.js("return [...reached].filter(([, isSeen]) => !isSeen).map(([name]) => name)") == []


def test_the_keyboard_alone_leads_through_every_view(page):
    page.open("/").settle()
    page.press(Keys.TAB)
    assert page.js("return document.activeElement.textContent") == "Skip to the content"
    page.press(Keys.ENTER)
    page.wait("document.activeElement.id === 'main'", "the link skips to the content")
    for name, path in [("Cycles", "/cycles"), ("Live", "/live"), ("Judge a log", "/judge"), ("Health", "/health"),
                       ("Overview", "/")]:
        focus(page, name, backwards=True)
        page.press(Keys.ENTER)
        page.wait(f"location.pathname === '{path}'", f"{path} is open")
        page.settle()
        assert page.js("return document.activeElement.tagName") == "H1", "a reader begins at the view's heading"
        assert page.js("return document.querySelector('nav [aria-current=page]').textContent") == name
        assert page.driver.title.endswith("dnp-telemetry")
    focus(page, "UTC", backwards=True, starts=True)
    page.press(Keys.SPACE)
    assert page.find("#zone").get_attribute("aria-checked") == "true"
    page.press(Keys.SPACE)
    assert page.find("#zone").get_attribute("aria-checked") == "false"


def focus(page, name, backwards=False, starts=False):
    """Goes to a control by Tab, and by Shift and Tab."""
    compare = "startsWith" if starts else "includes"
    for _ in range(250):
        if page.js(f"return document.activeElement.textContent.trim().{compare}(arguments[0])"
                   " && /^(A|BUTTON|SUMMARY|LABEL)$/.test(document.activeElement.tagName)", name):
            return
        page.back_tab() if backwards else page.press(Keys.TAB)
    raise AssertionError(f"{name} was not reached")


def test_a_list_is_filtered_and_a_cycle_opened_by_the_keyboard_alone(page):
    page.open("/cycles").settle()
    page.press("/")
    page.wait("document.activeElement.hasAttribute('data-filter')", "a slash leads to the filter")
    page.press("notif-7", Keys.ENTER)
    page.wait("location.search === '?schedule=notif-7'", "the filter is in the address")
    page.wait("document.querySelectorAll('tbody a').length === 1", "one cycle is left")
    focus(page, "notif-7")
    if page.js("return document.activeElement.tagName") == "BUTTON":
        page.press(Keys.TAB)
        focus(page, "notif-7")
    page.press(Keys.ENTER)
    page.wait("/^.cycles.\\d+$/.test(location.pathname)", "the cycle is open")
    page.settle()
    assert "notif-7" in page.text("h1")


def test_a_menu_opens_chooses_and_closes_by_the_keyboard_alone(page):
    page.open("/cycles").settle()
    focus(page, "Reason", starts=True)
    page.press(Keys.ENTER)
    page.wait("!!document.querySelector('details.menu[open]')", "the menu is open")
    page.press(Keys.TAB, Keys.SPACE)
    page.wait("location.search === '?reason=NETWORK'", "the choice is in the address")
    page.press(Keys.ESCAPE)
    page.wait("!document.querySelector('details.menu[open]') && document.activeElement.tagName === 'SUMMARY'",
              "Escape closes the menu and stays there")
    page.settle()
    focus(page, "Remove the filter", starts=True)
    page.press(Keys.ENTER)
    page.wait("location.search === ''", "the filter is gone")


def test_a_device_is_found_by_its_clear_id_which_never_gets_into_an_address(page):
    page.open("/cycles").settle()
    field = page.find("form input")
    field.send_keys("phone-1", Keys.ENTER)
    page.wait("/^.installation=[0-9a-f]{32}$/.test(location.search)", "its pseudonym is in the address")
    page.settle()
    page.wait(f"document.querySelectorAll('.cycles tbody a.mono').length === {CYCLES // 3}", "its cycles are shown")


FILTERED = "/cycles?outcome=fallback&reason=AUTH&platform=android"


def rows(page):
    return page.js("return [...document.querySelectorAll('.cycles a.mono')].map(each => each.textContent)")


def test_a_filtered_address_reloads_to_the_same_view_and_history_leads_back_and_forth(page, service):
    expected = [each["schedule"] for each in service.get(f"/api/v1{FILTERED}")["cycles"]]
    assert 0 < len(expected) < CYCLES / 10
    page.open("/cycles").settle()
    everything = rows(page)
    for menu, choice, group in [("Reason", "AUTH", ""), ("Platform", "android", "")]:
        page.named(menu, "summary").click()
        page.named(choice, "fieldset label").click()
        page.settle()
    page.named("fallback", "button").click()
    page.wait("new URLSearchParams(location.search).get('outcome') === 'fallback'", "all filters are in the address")
    page.wait(lambda: rows(page) == expected, "the cycles that the API names are shown")
    address = page.driver.current_url
    page.driver.refresh()
    page.settle()
    assert page.driver.current_url == address
    assert rows(page) == expected
    assert page.js("return document.querySelectorAll('.chips button.chip[aria-pressed=true]').length") == 1
    chips = page.text("[aria-label='Filters in force']")
    assert all(word in chips for word in ("AUTH", "android", "fallback"))
    page.driver.back()
    page.driver.back()
    page.driver.back()
    page.wait(lambda: rows(page) == everything, "back leads to the whole list")
    page.driver.forward()
    page.driver.forward()
    page.driver.forward()
    page.wait(lambda: rows(page) == expected and page.driver.current_url == address, "forward leads to the filtered list")


def test_the_list_goes_on_to_its_oldest_cycle(page):
    page.open("/cycles").settle()
    for count in (100, CYCLES):
        page.named("Older cycles").click()
        page.wait(f"document.querySelectorAll('.cycles a.mono').length === {count}", f"{count} cycles are shown")
    page.wait("!document.querySelector('.more button')", "there are no older ones")
    assert len(set(rows(page))) == CYCLES


def test_a_number_of_the_overview_leads_to_the_cycles_behind_it(page, service):
    page.open("/").settle()
    number = page.find("ol.funnel li:last-child .n a")
    assert number.text == str(service.get("/api/v1/overview")["day"]["used"])
    number.click()
    page.wait("location.pathname === '/cycles' && location.search.includes('stage=used')", "the list is open")
    page.settle()
    page.driver.back()
    page.wait("location.pathname === '/' && !!document.querySelector('ol.funnel')", "back leads to the overview")


def test_a_cycle_shows_its_events_and_one_that_is_not_kept_says_so(page, service):
    number = CYCLES - 4
    events = service.get(f"/api/v1/cycles/{number}")["events"]
    page.open(f"/cycles/{number}").settle()
    page.wait(f"document.querySelectorAll('.events tbody tr').length === {len(events)}", "each event is shown")
    page.find(".events details.json summary").click()
    page.wait("/\"event\": /.test(document.querySelector('.events pre')?.textContent)", "an event shows its JSON")
    page.open("/cycles/999999").settle()
    page.wait("/is not kept/.test(document.querySelector('h1')?.textContent)", "the view says so")


def test_every_time_is_local_or_utc_by_one_switch_which_a_reload_keeps(page):
    page.open(f"/cycles/{CYCLES - 4}").settle()
    page.find("#zone").click()
    script = "return [...document.querySelectorAll('time')].every(each => each.title.startsWith(each.textContent))"
    assert page.js(script)
    page.driver.refresh()
    page.settle()
    assert page.find("#zone").get_attribute("aria-checked") == "true" and page.js(script)
    page.find("#zone").click()
    page.wait("document.getElementById('zone')?.ariaChecked === 'false'", "local again")
