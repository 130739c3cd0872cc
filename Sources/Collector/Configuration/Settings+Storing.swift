// SPDX-License-Identifier: Apache-2.0

internal import EventLedger

extension Settings {
    /// Where events are kept and where they go.
    static let storing: [Setting] = [
        .value(
            "state-dir",
            \.stateDirectory,
            "dir",
            standard: "$STATE_DIRECTORY, $XDG_STATE_HOME/dnp-telemetry or ~/.local/state/dnp-telemetry",
            isPath: true,
            "Directory of the ledger and the key.",
            path
        ),
        .value(
            "durability",
            \.durability,
            "kind",
            standard: "process",
            "What an acknowledged event survives: process (a kill of the service) or power (a loss of power)."
        ) { (text) throws(SettingComplaint) in
            try SettingText.choice(text, LedgerDurability.allCases)
        },
        .value(
            "retention",
            \.retentionSeconds,
            "time",
            standard: "0",
            isLive: true,
            "How long batches stay in the ledger once they are counted and journaled."
        ) { (text) throws(SettingComplaint) in
            try SettingText.duration(text, .zero ... .seconds(3_650 * 86_400)).components.seconds
        },
        .value(
            "journal",
            \.journal,
            "output",
            standard: "journald",
            "Where events go besides the ledger: journald, stdout (JSON lines) or off."
        ) { (text) throws(SettingComplaint) in
            try SettingText.choice(text, ServeConfiguration.JournalMode.allCases)
        },
        .value(
            "journal-socket",
            \.journalSocket,
            "path",
            standard: "/run/systemd/journal/socket",
            isPath: true,
            "journald's socket.",
            path
        ),
    ]
}
