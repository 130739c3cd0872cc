#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples for Vector and Promtail parse, and name fields that the journal has; neither program is run.

Vector's is read as TOML. Promtail's is read as YAML by VictoriaMetrics, which knows its relabel_configs from Prometheus
and skips the rest. rsyslog.py holds both against the entries of a real journal.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from processes import Failure  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTOR = ROOT / "deploy" / "vector" / "vector.toml"
PROMTAIL = ROOT / "deploy" / "promtail" / "promtail.yml"
# More values of a label than any closed set of ours has.
VALUES = 64


def vector():
    """The journal's fields that Vector's example names, and those of them that become labels."""
    made = tomllib.loads(VECTOR.read_text())
    if made["sources"]["journal"]["include_matches"] != {"SYSLOG_IDENTIFIER": ["dnp-telemetry"]}:
        raise Failure("vector.toml does not take the entries of dnp-telemetry alone")
    parts = {"journal", *made["transforms"]}
    for name, part in {**made["transforms"], **made["sinks"]}.items():
        if not set(part["inputs"]) <= parts:
            raise Failure(f"vector.toml: {name} has inputs that there are not: {part['inputs']}")
    fields = dict(re.findall(r'"(\w+)": [^\n]*?\.([A-Z_]+)\b', made["transforms"]["events"]["source"]))
    values = made["sinks"]["loki"]["labels"].values()
    labels = [found.group(1) for found in map(re.compile(r"\{\{ (\w+) \}\}").fullmatch, values) if found]
    if missing := [label for label in labels if label not in fields]:
        raise Failure(f"vector.toml has labels of what the transform does not make: {missing}")
    return set(fields.values()), {fields[label] for label in labels}


def promtail(entries):
    """The same of Promtail's; of an entry it takes the names in lower case, behind a prefix."""
    text = PROMTAIL.read_text()
    if not re.search(r"(?m)^      matches: SYSLOG_IDENTIFIER=dnp-telemetry$", text):
        raise Failure("promtail.yml does not take the entries of dnp-telemetry alone")
    known = {name.lower(): name for entry in entries for name in entry}
    named = {name.removesuffix("_keyword") for name in re.findall(r"\b__journal_(\w+)", text)}
    return {known.get(name, name) for name in named}


def expressions():
    block = re.search(r"(?m)^          expressions:\n((?:            \S.*\n)+)", PROMTAIL.read_text())
    return set(re.findall(r": (\w+)$", block.group(1), re.MULTILINE))


def compare(entries):
    """Fails where an example names what none of these entries has, or a label takes more values than it may."""
    there = {name for entry in entries for name in entry}
    named, labels = vector()
    relabelled = promtail(entries)
    if unknown := (named | relabelled) - there:
        raise Failure(f"the examples for Vector and Promtail name fields that no entry has: {sorted(unknown)}")
    for name in labels | relabelled:
        if len({str(entry.get(name)) for entry in entries}) > VALUES:
            raise Failure(f"{name} is a label in an example, and has more than {VALUES} values")
    members = {member for entry in entries for member in json.loads(entry["MESSAGE"])}
    # Only verdicts have an outcome, and they come when cycles close.
    if unknown := expressions() - members - {"outcome"}:
        raise Failure(f"promtail.yml names members that no event has: {sorted(unknown)}")


def main():
    program = shutil.which("victoria-metrics") or "victoria-metrics"
    with tempfile.TemporaryDirectory(prefix="dnp-agents-") as directory:
        command = [program, "-promscrape.config.strictParse=false", f"-storageDataPath={directory}", "-dryRun"]
        done = subprocess.run([*command, f"-promscrape.config={PROMTAIL}"], capture_output=True, text=True)
    try:
        if done.returncode != 0:
            raise Failure(f"promtail.yml: {done.stderr}")
        named, labels = vector()
    except (Failure, tomllib.TOMLDecodeError) as failure:
        sys.exit(f"deploy/checks/agents.py: {failure}")
    print(f"vector, promtail: they parse; vector.toml names {len(named)} fields, of which {len(labels)} are labels")


if __name__ == "__main__":
    main()
