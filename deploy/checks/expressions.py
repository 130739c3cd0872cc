# SPDX-License-Identifier: Apache-2.0
"""The expressions of the dashboards and rules, and the metrics that they name."""

import json
import re

WORDS = {"and", "or", "unless", "bool", "offset", "group_left", "group_right"}
GROUPINGS = re.compile(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")
NAME = re.compile(r"(?<![\w:$.])[a-zA-Z_:][\w:]*(?![\w:]|\s*\()")


def names(expression, families):
    """The metrics in an expression; for the series of a histogram its family, if it is one of `families`."""
    rest = re.sub(r'"(\\.|[^"\\])*"', '""', expression)
    rest = GROUPINGS.sub(" ", re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", rest))
    found = {name for name in NAME.findall(rest) if name not in WORDS}
    return {histogram(name) if histogram(name) in families else name for name in found}


def histogram(name):
    return re.sub(r"_(bucket|sum|count)$", "", name)


def of_dashboard(path):
    """The queries of a dashboard as (location, expression, whether a result is required)."""
    made = json.loads(path.read_text(encoding="utf-8"))
    for panel in made["panels"]:
        for target in panel.get("targets", []):
            yield f"{path.name}: {panel['title']} ({target['refId']})", target["expr"], True
    for annotation in made["annotations"]["list"]:
        yield f"{path.name}: {annotation['name']}", annotation["expr"], False


def chosen(expression, instance=".*"):
    """An expression with Grafana's variables replaced; `instance` is a pattern or host:port."""
    values = {"job": ".*", "instance": instance, "__range": "1h", "__interval": "1m", "__rate_interval": "1m"}
    return re.sub(r"\$(\w+)", lambda found: values[found.group(1)], expression)
