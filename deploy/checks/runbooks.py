#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every alert has a section in the runbooks, at its runbook_url, and a test: silent, firing, silent again."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
PARTS = ("**Meaning.**", "**Check.**", "**Fix.**")


def alerts():
    """Each alert with its runbook_url."""
    for path in sorted((PROMETHEUS / "rules").glob("*.yml")):
        for rule in re.split(r"(?m)^      - (?=alert:|record:)", path.read_text())[1:]:
            name = re.match(r"alert: (\S+)", rule)
            if name:
                url = re.search(r"runbook_url: (\S+)", rule)
                yield name.group(1), url.group(1) if url else ""


def sections():
    """The sections of the runbooks by their headings."""
    parts = re.split(r"(?m)^## (.+)$", (PROMETHEUS / "runbooks.md").read_text())
    return dict(zip(parts[1::2], parts[2::2]))


def tested():
    """The alerts with a test case that expects them silent, firing, and silent again."""
    for path in (PROMETHEUS / "tests").glob("*.yml"):
        for case in path.read_text().split("\n  - name: ")[1:]:
            expected = re.findall(r"alertname: (\S+)\n\s+exp_alerts:(.*)", case)
            course = "".join("-" if "[]" in alerts else "!" for _, alerts in expected)
            if re.fullmatch("-+!+-+", course) and len({name for name, _ in expected}) == 1:
                yield expected[0][0]


def titles():
    """The titles of all dashboards and panels; the runbooks name them in italics."""
    for path in (ROOT / "dashboards").glob("*.json"):
        made = json.loads(path.read_text())
        yield made["title"]
        yield from (panel["title"] for panel in made["panels"])


def main():
    known, described, covered = dict(alerts()), sections(), set(tested())
    faults = [f"alert names are not unique: {len(known)} names"] if len(known) != len(list(alerts())) else []
    bases = {url.rpartition("#")[0] for url in known.values()}
    if len(bases) != 1:
        faults.append(f"runbook_url has more than one base address: {sorted(bases)}")
    for name, url in known.items():
        if url.rpartition("#")[2] != name.lower():
            faults.append(f"{name}: runbook_url does not point to its section: {url}")
        if name not in described:
            faults.append(f"{name} has no section in runbooks.md")
        section = described.get(name, "".join(PARTS))
        faults += [f"{name}: its section has no {part}" for part in PARTS if part not in section]
        if name not in covered:
            faults.append(f"{name} has no test that expects it silent, firing and silent again")
    faults += [f"runbooks.md describes the unknown alert {name}" for name in described.keys() - known.keys()]
    named = re.findall(r"(?<!\*)\*([A-Z][^*]*)\*(?!\*)", (PROMETHEUS / "runbooks.md").read_text())
    missing = {" ".join(title.split()) for title in named} - set(titles())
    faults += [f"runbooks.md names the unknown panel {title!r}" for title in sorted(missing)]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"runbooks: {len(known)} alerts, each with a section and a test")
    sys.exit(1 if faults else 0)


main()
