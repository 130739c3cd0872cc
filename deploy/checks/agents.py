#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples for Vector and Promtail parse and name existing journal fields; neither program runs.

Vector's is parsed as TOML. VictoriaMetrics parses Promtail's: it shares relabel_configs with Prometheus and ignores the
rest. rsyslog.py compares both with the entries of a real journal.
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
# No closed set of values is larger.
VALUES = 64


def vector():
    """Journal fields in Vector's example, and those of them that become labels."""
    made = tomllib.loads(VECTOR.read_text())
    if made["sources"]["journal"]["include_matches"] != {"SYSLOG_IDENTIFIER": ["dnp-telemetry"]}:
        raise Failure("vector.toml does not match exactly the entries of dnp-telemetry")
    parts = {"journal", *made["transforms"]}
    for name, part in {**made["transforms"], **made["sinks"]}.items():
        if not set(part["inputs"]) <= parts:
            raise Failure(f"vector.toml: {name} has unknown inputs: {part['inputs']}")
    fields = dict(re.findall(r'"(\w+)": [^\n]*?\.([A-Z_]+)\b', made["transforms"]["events"]["source"]))
    values = made["sinks"]["loki"]["labels"].values()
    labels = [found.group(1) for found in map(re.compile(r"\{\{ (\w+) \}\}").fullmatch, values) if found]
    if missing := [label for label in labels if label not in fields]:
        raise Failure(f"vector.toml has labels that the transform does not set: {missing}")
    return set(fields.values()), {fields[label] for label in labels}


def promtail(entries):
    """Journal fields in Promtail's example, which lower-cases and prefixes their names."""
    text = PROMTAIL.read_text()
    if not re.search(r"(?m)^      matches: SYSLOG_IDENTIFIER=dnp-telemetry$", text):
        raise Failure("promtail.yml does not match exactly the entries of dnp-telemetry")
    known = {name.lower(): name for entry in entries for name in entry}
    named = {name.removesuffix("_keyword") for name in re.findall(r"\b__journal_(\w+)", text)}
    return {known.get(name, name) for name in named}


def expressions():
    block = re.search(r"(?m)^          expressions:\n((?:            \S.*\n)+)", PROMTAIL.read_text())
    return set(re.findall(r": (\w+)$", block.group(1), re.MULTILINE))


def compare(entries):
    """Fails if an example names a field that no entry has, or a label has too many values."""
    there = {name for entry in entries for name in entry}
    named, labels = vector()
    relabelled = promtail(entries)
    if unknown := (named | relabelled) - there:
        raise Failure(f"vector.toml or promtail.yml names fields that no entry has: {sorted(unknown)}")
    for name in labels | relabelled:
        if len({str(entry.get(name)) for entry in entries}) > VALUES:
            raise Failure(f"{name} is a label in an example but has more than {VALUES} values")
    members = {member for entry in entries for member in json.loads(entry["MESSAGE"])}
    # Only verdicts have an outcome, and a cycle need not close during the check.
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
    print(f"vector, promtail: both parse; vector.toml names {len(named)} fields, {len(labels)} of them labels")


if __name__ == "__main__":
    main()
