# SPDX-License-Identifier: Apache-2.0
"""The settings as documented in docs/configuration.md and docs/listeners.md, and as the executable knows them."""

import pathlib
import re

import mdoc

DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"

FILES = [
    ("/etc/dnp-telemetry/config.yml", "The configuration of the service, dnp-telemetry.yml(5)."),
    ("/var/lib/dnp-telemetry", "The ledger and the key of the installation hashes, of the service."),
    ("~/.local/state/dnp-telemetry", "The same, of a service that a user starts."),
]


class Setting:
    def __init__(self, name, standard, meaning, reload):
        self.name, self.meaning, self.is_live = name, meaning, reload not in ("", "no", "restart")
        # A default that depends on the system is described in words.
        self.is_fixed = bool(standard) and not re.search(r"\s|\$", standard)
        self.standard = standard


def rows(page, heading, columns):
    """The rows of the table below a heading of a page, without the marks of code."""
    section = (DOCS / page).read_text().split(f"\n{heading}\n")[1].split("\n#")[0]
    for line in section.split("\n| --- |")[1].splitlines()[1:]:
        if not line.startswith("|"):
            break
        cells = [cell.replace("`", "").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        yield (cells + [""] * columns)[:columns]


def settings():
    """Every setting, in the order of the page."""
    return [Setting(*row) for row in rows("configuration.md", "## Settings", 4)]


def listeners():
    """Forms of a listener, with what each means."""
    return list(rows("listeners.md", "## Addresses", 2))


def lists(tool):
    """The settings that are lists: their options may be repeated."""
    serve = next(command for command in tool["subcommands"] if command["commandName"] == "serve")
    return {a["preferredName"]["name"] for a in serve["arguments"] if a["isRepeating"] and "preferredName" in a}


def page():
    yield ".Bl -tag -width Ds"
    for setting in settings():
        yield f".It Ic {mdoc.word(setting.name)}"
        yield from mdoc.text(setting.meaning)
        if setting.standard:
            yield from mdoc.text(f"The default is {setting.standard}.")
        if setting.is_live:
            yield "Changes with a reload."
    yield ".El"


def forms():
    yield ".Bl -tag -width Ds"
    for form, meaning in listeners():
        yield f".It {mdoc.escaped(form)}"
        yield from mdoc.text(meaning[:1].upper() + meaning[1:] + ".")
    yield ".El"
