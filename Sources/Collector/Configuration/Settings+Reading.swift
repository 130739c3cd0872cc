// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents

extension Settings {
    /// What is read besides requests, and how lines are understood.
    static let reading: [Setting] = [
        .list(
            "follow",
            \.followedFiles,
            "file",
            isPath: true,
            "Log files to follow, through every rotation."
        ) { (text) throws(SettingComplaint) in
            guard text != "-" else { throw SettingComplaint("expected a file, found \"-\"; use stdin for it") }
            return try path(text)
        },
        .list(
            "follow-journal",
            \.followedJournal,
            "match",
            mayRepeat: true,
            "Matches of the journal whose entries are read as lines: FIELD=VALUE, or + between alternatives."
        ) { (text) throws(SettingComplaint) in
            if text == "+" { return text }
            guard let equals = text.firstIndex(of: "="), JournalMatchText.isField(text[..<equals]) else {
                throw SettingComplaint(expected: "a match such as SYSLOG_IDENTIFIER=app, or +", found: text)
            }
            return text
        },
        .flag("stdin", \.readsStandardInput, "Read log lines from standard input; the service goes on after its end."),
        .flag(
            "single-device",
            \.sourcesAreDevices,
            "Each followed file, and standard input, comes from one device: its lines need no installation id."
        ),
        .value(
            "timezone",
            \.zone,
            "zone",
            standard: "the machine's",
            "Zone of log lines whose stamps name none: Europe/Berlin, +02:00."
        ) { (text) throws(SettingComplaint) in
            do throws(UnknownZone) {
                return try ZoneOffsets(named: text)
            } catch {
                throw SettingComplaint(error.description)
            }
        },
        .value(
            "input-format",
            \.wrapper,
            "form",
            standard: "told apart line by line",
            "Form in which log lines are wrapped: \(LineFormat.names.joined(separator: ", "))."
        ) { (text) throws(SettingComplaint) in
            try SettingText.choice(text, LogWrapper.allCases)
        },
    ]
}
