# SPDX-License-Identifier: Apache-2.0
"""The house style of the dashboards: Grafana's panel builders with the options that every panel of a kind shares."""

import re

from grafana_foundation_sdk.builders import bargauge, common, dashboard, heatmap, prometheus, stat, text, timeseries
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat, QueryEditorMode
from grafana_foundation_sdk.models.text import TextMode

DATASOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
SELECTOR = 'job=~"$job", instance=~"$instance"'
RECORDED = re.compile(r"\b(?:instance|job):\w+")


def query(expression, legend=""):
    """A range query; `$S` in it stands for the selected jobs and instances."""
    return (
        prometheus.Dataquery()
        .datasource(DATASOURCE)
        .editor_mode(QueryEditorMode.CODE)
        .format(PromQueryFormat.TIME_SERIES)
        .expr(" ".join(expression.split()).replace("$S", SELECTOR))
        .legend_format(legend)
        .range()
    )


def count_per_interval(series, label):
    """Whole counts per column of a counter whose series start at 0."""
    return query(f"sum by ({label}) (round(increase({series}[$__interval])))", "{{" + label + "}}")


def quantiles(family, window="$__rate_interval"):
    """The quantiles of a histogram over the preceding window."""
    return [
        query(f"histogram_quantile({q}, sum by (le) (rate({family}_bucket{{$S}}[{window}])))", name)
        for q, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))
    ]


def share_within(family, bound):
    """The share of observations up to a bound, which OpenMetrics writes as 900.0 and the text format as 900."""
    return f"""
        sum(increase({family}_bucket{{le=~"{bound}([.]0)?", $S}}[$__range]))
          / (sum(increase({family}_count{{$S}}[$__range])) > 0)
    """


def thresholds(*steps):
    """Absolute thresholds: the colour below the first value, then (value, colour) in ascending order."""
    base, *others = steps
    made = [models.Threshold(None, base)] + [models.Threshold(value, colour) for value, colour in others]
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(made)


HIGH_IS_GOOD = thresholds("red", (0.8, "orange"), (0.95, "green"))
NONE_IS_GOOD = thresholds("green", (1, "red"))


def panel(builder, title, unit, description, queries):
    """What the panels of all kinds have in common."""
    queries = [query(one) if isinstance(one, str) else one for one in queries]
    for letter, one in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", queries):
        builder.with_target(one.ref_id(letter))
    return (
        builder.datasource(DATASOURCE)
        .title(title)
        .description(description)
        .unit(unit)
        .thresholds(thresholds("blue"))
        .height(7)
        .span(8)
    )


def share(kind, title, description, *queries):
    """A panel of values from 0 to 1."""
    return kind(title, units.PercentUnit, description, *queries).min(0).max(1)


def last_value():
    return common.ReduceDataOptions().calcs(["lastNotNull"]).fields("").values(False)


def number(title, unit, description, *queries):
    """The last value as a number."""
    builder = (
        stat.Panel()
        .reduce_options(last_value())
        .color_mode(options.BigValueColorMode.VALUE)
        .graph_mode(options.BigValueGraphMode.NONE)
        .text_mode(options.BigValueTextMode.AUTO)
    )
    instant = [(query(one) if isinstance(one, str) else one).instant() for one in queries]
    return panel(builder, title, unit, description, instant).height(4).span(4)


def state(title, description, expression, texts):
    """The text and colour of the last value."""
    results = {str(value): models.ValueMappingResult(name, colour) for value, (name, colour) in texts.items()}
    return number(title, units.NoUnit, description, expression).mappings([models.ValueMap(results)])


def label(title, description, expression, legend):
    """The legend of each series, without its value."""
    shown = number(title, units.NoUnit, description, query(expression, legend))
    return shown.text_mode(options.BigValueTextMode.NAME)


def bars(title, unit, description, *queries):
    """A horizontal bar for each series: its last value."""
    builder = (
        bargauge.Panel()
        .reduce_options(last_value())
        .display_mode(options.BarGaugeDisplayMode.GRADIENT)
        .orientation(options.VizOrientation.HORIZONTAL)
        .show_unfilled(True)
    )
    return panel(builder, title, unit, description, [one.instant() for one in queries]).min(0)


def lines(title, unit, description, *queries):
    """Lines over time."""
    builder = (
        timeseries.Panel()
        .line_width(1)
        .fill_opacity(10)
        .show_points(options.VisibilityMode.NEVER)
        .span_nulls(False)
        .legend(
            common.VizLegendOptions()
            .display_mode(options.LegendDisplayMode.LIST)
            .placement(options.LegendPlacement.BOTTOM)
            .show_legend(True)
        )
        .tooltip(common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI).sort(options.SortOrder.DESCENDING))
    )
    return panel(builder, title, unit, description, queries).min(0)


def limit(builder, *steps):
    """Draws the thresholds of a time series as lines."""
    style = common.GraphThresholdsStyleConfig().mode(options.GraphTresholdsStyleMode.LINE)
    return builder.thresholds(thresholds(*steps)).thresholds_style(style)


def stacked(builder):
    return builder.stacking(common.StackingConfig().mode(options.StackingMode.NORMAL).group("A"))


def columns(title, description, *queries):
    """Stacked whole counts, each over an hour or more: most devices act once a day."""
    builder = lines(title, units.Short, description, *queries)
    builder = builder.draw_style(options.GraphDrawStyle.BARS).fill_opacity(70).line_width(0).decimals(0)
    return stacked(builder).interval("1h")


def distribution(title, unit, description, bucket):
    """A heatmap of a histogram, in columns of an hour or more."""
    target = query(f"sum by (le) (increase({bucket}{{$S}}[$__interval]))", "{{le}}").format(PromQueryFormat.HEATMAP)
    colour = heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Oranges").steps(64).exponent(0.5)
    builder = (
        heatmap.Panel()
        .calculate(False)
        .cell_gap(1)
        .color(colour)
        .filter_values(heatmap.FilterValueRange().le(1e-9))
        .y_axis(heatmap.YAxisConfig().unit(unit).axis_placement(options.AxisPlacement.LEFT))
        .hide_legend()
        .show_tooltip()
        .hide_y_histogram()
    )
    return panel(builder, title, unit, description, [target]).interval("1h").span(12)


def recording_rules(row, panels):
    """A text panel that names the panels of a row that stay empty without the recording rules; none if none does."""
    built = [one.build() for one in panels]
    needing = [one.title for one in built if any(RECORDED.search(target.expr) for target in one.targets)]
    if not needing:
        return []
    names = "All panels of this row" if len(needing) == len(built) else "; ".join(f"*{title}*" for title in needing)
    content = (
        f"**Recording rules.** {names} read series that Prometheus records by the rules in "
        "`deploy/prometheus/rules/recording.yml`. Without these rules they show *No data*."
    )
    return [text.Panel().title(f"{row}: required rules").mode(TextMode.MARKDOWN).content(content).height(3).span(24)]


def variable(name, title, values):
    return (
        dashboard.QueryVariable(name)
        .label(title)
        .datasource(DATASOURCE)
        .query({"query": values, "refId": name})
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(models.VariableOption(True, ["All"], ["$__all"]))
    )


class FiringAlerts(models.AnnotationQuery):
    """Alerts that fire, as annotations; the SDK's class lacks two fields of a Prometheus annotation."""

    def __init__(self):
        expression = 'ALERTS{alertname=~"Dnp.+", alertstate="firing"}'
        super().__init__("Alerts", DATASOURCE, True, icon_color="red", expr=expression)

    def build(self):
        return self

    def to_json(self):
        return super().to_json() | {"step": "60s", "titleFormat": "{{alertname}}"}


def page(uid, title, description, since, rows):
    """A dashboard of rows, each a title with panels that flow from left to right; the widths of a line add up to 24."""
    made = (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags(["dnp-telemetry"])
        .editable()
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .timezone("browser")
        .refresh("1m")
        .time(since, "now")
        .version(1)
        .annotation(FiringAlerts())
        .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(variable("job", "Job", "label_values(dnp_telemetry_build_info, job)"))
        .with_variable(variable("instance", "Instance", 'label_values(dnp_telemetry_build_info{job=~"$job"}, instance)'))
        .link(
            dashboard.DashboardLink("dnp-telemetry")
            .type(models.DashboardLinkType.DASHBOARDS)
            .tags(["dnp-telemetry"])
            .include_vars(True)
            .keep_time(True)
        )
    )
    for name, panels in rows:
        made.with_row(dashboard.Row(name))
        for one in recording_rules(name, panels) + panels:
            made.with_panel(one)
    result = made.build()
    # Grafana numbers panels on load otherwise, and links to one panel change with each insertion.
    for number_of_panel, one in enumerate(result.panels, 1):
        one.id_val = number_of_panel
    return result
