# SPDX-License-Identifier: Apache-2.0
"""Grafana's JSON from short descriptions of rows and panels."""

import json

WIDTH = 24
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
SELECTOR = 'job=~"$job", instance=~"$instance"'


def query(expression, legend=""):
    """One query of a panel; `$S` in it stands for the job and the instance that are chosen."""
    return {"expr": " ".join(expression.split()).replace("$S", SELECTOR), "legendFormat": legend}


def panel(
    kind, title, unit, description, queries, width=8, height=7,
    *, options=None, custom=None, steps=None, every=None, **defaults,
):
    """A panel; `steps` are thresholds as (from, colour), `every` the shortest step, `defaults` go to its fields."""
    if isinstance(queries, str):
        queries = [query(queries)]
    instant = kind in ("stat", "bargauge", "table")
    targets = []
    for index, target in enumerate(queries):
        targets.append(
            {
                "datasource": DATASOURCE,
                "editorMode": "code",
                "format": "heatmap" if kind == "heatmap" else "time_series",
                "instant": instant,
                "range": not instant,
                "refId": chr(ord("A") + index),
                **target,
            }
        )
    fields = {"unit": unit, **defaults}
    if custom:
        fields["custom"] = custom
    fields["thresholds"] = {
        "mode": "absolute",
        "steps": [{"color": colour, "value": value} for value, colour in steps or [(None, "blue")]],
    }
    made = {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": DATASOURCE,
        "fieldConfig": {"defaults": fields, "overrides": []},
        "options": options or {},
        "targets": targets,
        "gridPos": {"w": width, "h": height},
    }
    if every:
        made["interval"] = every
    return made


REDUCED = {"calcs": ["lastNotNull"], "fields": "", "values": False}


def stat(title, unit, description, queries, width=4, height=4, **more):
    options = {"reduceOptions": REDUCED, "colorMode": "value", "graphMode": "none", "textMode": "auto"}
    return panel("stat", title, unit, description, queries, width, height, options=options, **more)


def words(title, description, queries, width=4, height=4, meanings=None, **more):
    """A stat that shows the name of its series, or the word that a value stands for."""
    options = {"reduceOptions": REDUCED, "colorMode": "value", "graphMode": "none", "textMode": "auto"}
    if meanings:
        texts = {str(value): {"text": text, "color": colour} for value, (text, colour) in meanings.items()}
        more["mappings"] = [{"type": "value", "options": texts}]
    else:
        options["textMode"] = "name"
    return panel("stat", title, "none", description, queries, width, height, options=options, **more)


def bars(title, unit, description, queries, **more):
    """One bar for each series, of the moment or of the time that is looked at."""
    options = {"reduceOptions": REDUCED, "displayMode": "gradient", "orientation": "horizontal", "showUnfilled": True}
    return panel("bargauge", title, unit, description, queries, options=options, **{"min": 0, **more})


def lines(title, unit, description, queries, style=None, **more):
    """Lines over time; thresholds are drawn where there are some."""
    custom = {"lineWidth": 1, "fillOpacity": 10, "showPoints": "never", "spanNulls": False, **(style or {})}
    if more.get("steps"):
        custom["thresholdsStyle"] = {"mode": "line"}
    options = {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel("timeseries", title, unit, description, queries, options=options, custom=custom, **{"min": 0, **more})


def columns(title, unit, description, queries, every="1h", **more):
    """Stacked columns of whole counts, each over an hour or more; for what happens once a day."""
    style = {
        "drawStyle": "bars",
        "fillOpacity": 70,
        "lineWidth": 0,
        "stacking": {"mode": "normal", "group": "A"},
    }
    return lines(title, unit, description, queries, style=style, decimals=0, every=every, **more)


def heatmap(title, unit, description, bucket, **more):
    """How often each bucket of a histogram was met, in columns of an hour or more."""
    expression = f"sum by (le) (increase({bucket}{{$S}}[$__interval]))"
    options = {
        "calculate": False,
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "exponent": 0.5},
        "filterValues": {"le": 1e-9},
        "legend": {"show": False},
        "tooltip": {"show": True, "yHistogram": False},
        "yAxis": {"unit": unit, "axisPlacement": "left"},
    }
    queries = [query(expression, "{{le}}")]
    return panel("heatmap", title, unit, description, queries, options=options, every="1h", **more)


def variable(name, label, values):
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": DATASOURCE,
        "definition": values,
        "query": {"query": values, "refId": name},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "options": [],
        "hide": 0,
        "skipUrlSync": False,
    }


VARIABLES = [
    {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "refresh": 1,
        "regex": "",
        "multi": False,
        "includeAll": False,
        "current": {},
        "options": [],
        "hide": 0,
        "skipUrlSync": False,
    },
    variable("job", "Job", "label_values(dnp_telemetry_build_info, job)"),
    variable("instance", "Instance", 'label_values(dnp_telemetry_build_info{job=~"$job"}, instance)'),
]

ALERTS = {
    "name": "Alerts",
    "datasource": DATASOURCE,
    "enable": True,
    "iconColor": "red",
    "expr": 'ALERTS{alertname=~"Dnp.+", alertstate="firing"}',
    "step": "60s",
    "titleFormat": "{{alertname}}",
}


LINK = {
    "type": "dashboards",
    "title": "dnp-telemetry",
    "tags": ["dnp-telemetry"],
    "includeVars": True,
    "keepTime": True,
}


def dashboard(uid, title, description, since, rows):
    """The whole dashboard; rows are (title, panels), and panels flow from left to right."""
    panels = []
    top = 0
    for name, content in rows:
        place = {"x": 0, "y": top, "w": WIDTH, "h": 1}
        panels.append({"type": "row", "title": name, "collapsed": False, "panels": [], "gridPos": place})
        left, top, height = 0, top + 1, 0
        for item in content:
            place = item["gridPos"]
            if left + place["w"] > WIDTH:
                left, top, height = 0, top + height, 0
            item["gridPos"] = {"x": left, "y": top, **place}
            left, height = left + place["w"], max(height, place["h"])
            panels.append(item)
        top += height
    for number, item in enumerate(panels, 1):
        item["id"] = number
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["dnp-telemetry"],
        "schemaVersion": 38,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "timezone": "browser",
        "refresh": "1m",
        "time": {"from": since, "to": "now"},
        "annotations": {"list": [ALERTS]},
        "templating": {"list": VARIABLES},
        "links": [LINK],
        "panels": panels,
    }


def text(made):
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
