# SPDX-License-Identifier: Apache-2.0
"""Reads a page of metrics from standard input with prometheus_client's parser and prints what it found as JSON.

usage: read_page.py openmetrics|text < page
"""

import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text


def sample(found):
    exemplar = found.exemplar and {
        "labels": found.exemplar.labels,
        "value": str(found.exemplar.value),
        "timestamp": str(found.exemplar.timestamp),
    }
    return {"name": found.name, "labels": found.labels, "value": str(found.value), "exemplar": exemplar}


def family(found):
    return {
        "name": found.name,
        "type": found.type,
        "unit": found.unit,
        "help": found.documentation,
        "samples": [sample(each) for each in found.samples],
    }


read = {"openmetrics": read_openmetrics, "text": read_text}[sys.argv[1]]
try:
    page = sys.stdin.buffer.read().decode("utf-8")
    print(json.dumps([family(each) for each in read(page)]))
except ValueError as error:
    sys.exit(f"refused: {error!r}")
