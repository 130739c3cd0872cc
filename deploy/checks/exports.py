#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples for receivers of exports have the right form, and dnp-telemetry takes the settings that they name.

None of the receivers runs. Where the executable is given, `check-config` reads each setting.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from processes import Failure  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "deploy" / "export"
# What the members of each example may be at its top.
MEMBERS = {
    "otel-collector.yml": {"receivers", "exporters", "service"},
    "loki.yml": {"limits_config"},
    "mimir.yml": {"multitenancy_enabled", "limits"},
}
FIELD = re.compile(r"\bDNP_[A-Z_]+\b")


def pipelines(made):
    """Every receiver and exporter of a pipeline is defined, and every one that is defined is used."""
    for kind in ("receivers", "exporters"):
        used = {name for part in made["service"]["pipelines"].values() for name in part[kind]}
        if used != set(made[kind]):
            raise Failure(f"otel-collector.yml: {kind} are {sorted(made[kind])}, its pipelines use {sorted(used)}")


def alloy(text):
    """Braces balance, and every component that is referred to is defined."""
    code = re.sub(r"//[^\n]*", "", text)
    if any(code.count(left) != code.count(right) for left, right in ("{}", "[]")):
        raise Failure("config.alloy: braces do not balance")
    defined = {f"{kind}.{label}" for kind, label in re.findall(r'(?m)^([a-z_.]+) "(\w+)" \{$', code)}
    used = {name.rpartition(".")[0] for name in re.findall(r"\[([a-z_.]+)\]", code)}
    if not used or not used <= defined:
        raise Failure(f"config.alloy: refers to {sorted(used)}, defines {sorted(defined)}")


def setting(path):
    """The setting that an example's comment names."""
    found = re.search(r"(?m)^(?:#|//) +export: (.+)$", path.read_text())
    if not found:
        raise Failure(f"{path.name} names no setting of dnp-telemetry")
    return found.group(1)


def main():
    documented = set(FIELD.findall((ROOT / "docs" / "journal.md").read_text()))
    for name, members in MEMBERS.items():
        text = (EXAMPLES / name).read_text()
        made = yaml.safe_load(text)
        if set(made) != members:
            raise Failure(f"{name}: expected {sorted(members)} at its top, found {sorted(made)}")
        if unknown := set(FIELD.findall(text)) - documented:
            raise Failure(f"{name} names fields that no record has: {sorted(unknown)}")
        if name == "otel-collector.yml":
            pipelines(made)
    alloy((EXAMPLES / "config.alloy").read_text())
    settings = [setting(path) for path in sorted(EXAMPLES.iterdir())]
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory(prefix="dnp-check-") as directory:
            for number, text in enumerate(settings):
                file = pathlib.Path(directory) / f"{number}.yml"
                file.write_text(f"export:\n  - {text}\nstate-dir: {directory}/state\nlisten: 127.0.0.1:0\n")
                subprocess.run([sys.argv[1], "check-config", file], check=True, stdout=subprocess.DEVNULL)
    print(f"exports: {len(settings)} examples, each with a setting")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"deploy/checks/exports.py: {failure}")
