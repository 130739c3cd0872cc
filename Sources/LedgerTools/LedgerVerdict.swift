// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents
package import TextOutput

/// One check of a ledger and its result.
package struct LedgerCheck: Hashable, Sendable {
    /// The checks, in the order of the output.
    package enum Name: String, Sendable, CaseIterable {
        /// The key of the installations can be read.
        case key
        /// SQLite's own check of the file.
        case database
        /// Nothing that was acknowledged is missing, as the mark and the ledger's lives show.
        case lives
        /// Checksums, numbers and records of every batch.
        case batches
        /// Every page of the checkpoint can be read.
        case checkpoint
        /// The sums of the accounts, at the checkpoint and at the end.
        case sums
        /// No projection is ahead of the ledger or behind what was deleted.
        case positions
        /// The journal holds every confirmed event once.
        case journal
    }

    /// How a check ended.
    package enum Result: String, Sendable {
        case ok, failed, skipped
    }

    /// A number that the check found.
    fileprivate struct Figure: Hashable, Sendable {
        let name: String
        let value: UInt64
    }

    /// The most findings that one check lists.
    private static let maximumFindings = 20

    /// The check.
    package let name: Name
    /// Its result.
    package internal(set) var result = Result.ok
    /// What was checked, in one sentence.
    package internal(set) var sentence = ""
    /// What is wrong, one sentence each; the first 20.
    package private(set) var findings: [String] = []
    /// The number of unlisted findings.
    fileprivate private(set) var furtherFindings = 0
    fileprivate private(set) var figures: [Figure] = []

    init(_ name: Name) {
        self.name = name
    }

    /// Adds a finding, which fails the check.
    mutating func fail(_ finding: String) {
        result = .failed
        if findings.count < Self.maximumFindings { findings.append(finding) } else { furtherFindings += 1 }
    }

    mutating func add(_ name: String, _ value: UInt64) {
        figures.append(Figure(name: name, value: value))
    }
}

/// The results of all checks of a ledger.
package struct LedgerVerdict: Hashable, Sendable {
    /// The ledger's id.
    package let ledger: String
    /// The checks, in their order.
    package let checks: [LedgerCheck]

    /// Whether no check failed.
    package var isSound: Bool { !checks.contains { $0.result == .failed } }
}

extension LedgerVerdict {
    /// One line for each check with its findings below, and the verdict last.
    ///
    /// - Parameter isBrief: whether to list only failed checks.
    package func text(style: TextStyle, isBrief: Bool = false) -> String {
        var text = ""
        for check in checks where !isBrief || check.result == .failed {
            let result = Self.padded(check.result == .failed ? "FAILED" : check.result.rawValue, 8)
            let name = Self.padded(check.name.rawValue, 11)
            text += style.text(result, check.result.colour) + name + check.sentence + "\n"
            for finding in check.findings { text += "          \(finding)\n" }
            if check.furtherFindings > 0 { text += "          and \(check.furtherFindings) more\n" }
        }
        let failed = checks.count { $0.result == .failed }
        let skipped = checks.count { $0.result == .skipped }
        let rest = skipped > 0 ? ", \(skipped) skipped" : ""
        return text
            + (failed > 0
                ? style.text("unsound", .bad) + ": \(failed) of \(checks.count) checks failed\(rest)\n"
                : style.text("sound", .good) + ": \(checks.count - skipped) checks\(rest)\n")
    }

    /// One object: `{"verdict":"sound|unsound","ledger":"...","checks":[{"check":"...","result":"ok|failed|skipped",
    /// "detail":"...","figures":{...},"findings":["..."]}]}`.
    package func json() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("verdict")
            json.value(isSound ? "sound" : "unsound")
            json.name("ledger")
            json.value(ledger)
            json.name("checks")
            json.array { json in
                for check in checks {
                    json.line(indent: 2)
                    json.object { check.append(to: &$0) }
                }
                json.lastLine(indent: 0)
            }
        }
        return json.asLine()
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension LedgerCheck {
    fileprivate func append(to json: inout JSONWriter) {
        json.name("check")
        json.value(name.rawValue)
        json.name("result")
        json.value(result.rawValue)
        json.name("detail")
        json.value(sentence)
        json.name("figures")
        json.object { json in
            for figure in figures {
                json.name(figure.name)
                json.value(figure.value)
            }
        }
        json.name("findings")
        json.array { json in
            for finding in findings { json.value(finding) }
        }
        json.name("furtherFindings")
        json.value(UInt64(furtherFindings))
    }
}

extension LedgerCheck.Result {
    fileprivate var colour: TextStyle.Colour {
        switch self {
        case .ok: .good
        case .failed: .bad
        case .skipped: .note
        }
    }
}
