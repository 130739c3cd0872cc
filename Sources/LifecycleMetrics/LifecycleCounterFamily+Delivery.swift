// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

extension LifecycleCounterFamily {
    /// What notifications and their content came to, and what the plugin itself got wrong.
    static let ofDelivery: [LifecycleCounterFamily] = [
        .init(
            "dnp_notification_delivered_total",
            help: "Notifications that were delivered, by what they showed; none where nothing tells of their content.",
            label: "content",
            of: DeliveredContent.allCases,
            value: \.name
        ) { $0.delivered($1) },
        .init(
            "dnp_notification_drift_exceeded_total",
            help: "Notifications that were delivered more than 180 s from their time."
        ) { $0.driftExceeded },
        .init("dnp_content_cache_failures_total", help: "Writes of content to the cache that failed.") {
            $0.cacheFailures
        },
        .init(
            "dnp_plugin_errors_total",
            help: "Errors of the plugin, by their code.",
            label: "code",
            of: PluginErrorCode.allCases,
            value: \.name
        ) { $0.pluginErrors($1) },
        .init(
            "dnp_integrity_checks_total",
            help: "Closed cycles whose hashes of content or schedule were compared, by result; MD5 finds corruption, "
                + "not tampering."
        ) { $0.checks($1, $2) },
    ]
}
