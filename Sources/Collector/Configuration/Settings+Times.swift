// SPDX-License-Identifier: Apache-2.0

extension Settings {
    /// How long things may take.
    static let times: [Setting] = [
        .time("header-timeout", \.headerTimeout, standard: "10s", "In which time a request's head must have come."),
        .time("body-timeout", \.bodyTimeout, standard: "1m", "In which time a request's body must have come."),
        .time("response-timeout", \.responseTimeout, standard: "1m", "In which time an answer must have been taken."),
        .time("idle-timeout", \.idleTimeout, standard: "75s", "How long a connection may be silent between requests."),
        .time(
            "max-commit-time",
            \.maximumCommitTime,
            standard: "5s",
            "Above which time for a commit new events are refused until it is shorter."
        ),
    ]
}

extension Setting {
    fileprivate static func time(
        _ name: String,
        _ place: Place<Duration>,
        standard: String,
        _ help: String
    ) -> Setting {
        .value(name, place, "time", standard: standard, isLive: true, help) { (text) throws(SettingComplaint) in
            try SettingText.duration(text, .milliseconds(10) ... .seconds(86_400))
        }
    }
}
