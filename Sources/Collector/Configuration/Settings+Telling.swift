// SPDX-License-Identifier: Apache-2.0

internal import LifecycleMetrics
internal import Logging

extension Settings {
    /// What the service tells, in its metrics and in its own log.
    static let telling: [Setting] = [
        .list(
            "label",
            \.labels,
            "label",
            "Labels that the metrics of the lifecycle get besides their own: platform, app_version."
        ) { (text) throws(SettingComplaint) in
            try SettingText.choice(text, LifecycleLabel.allCases)
        },
        .flag(
            "created-samples",
            \.createdSamples,
            standard: true,
            "Tell when counters and histograms began, in OpenMetrics (_created) and protobuf."
        ),
        .value(
            "log-level",
            \.logLevel,
            "level",
            standard: "notice",
            isLive: true,
            "Lowest level of the service's own log: trace, debug, info, notice, warning, error or critical."
        ) { (text) throws(SettingComplaint) in
            try SettingText.choice(text, Logger.Level.allCases)
        },
        .flag("quiet", \.isQuiet, "Print no start screen."),
    ]
}
