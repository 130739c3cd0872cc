# SPDX-License-Identifier: Apache-2.0
"""The settings, as the table in the README tells them: a page of section 5, and a file to begin with."""

import pathlib
import re
import textwrap

import mdoc

README = pathlib.Path(__file__).resolve().parent.parent.parent / "README.md"

FILES = [
    ("/etc/dnp-telemetry/config.yml", "The configuration of the service, dnp-telemetry.yml(5)."),
    ("/var/lib/dnp-telemetry", "The ledger and the key of the hashes, of the service."),
    ("~/.local/state/dnp-telemetry", "The same, of a service that a person starts."),
]


def rows():
    """Key, default and meaning of each setting."""
    section = re.search(r"^### Settings\n(.*?)(?=^#)", README.read_text() + "\n#", re.M | re.S)
    for line in (section.group(1) if section else "").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))]
        if line.startswith("| `"):
            yield cells


def page():
    yield ".Bl -tag -width Ds"
    yield ".It Ic listen"
    yield ".El"
