// SPDX-License-Identifier: Apache-2.0

/// What was looked at, and what was found.
package struct LedgerCheck: Hashable, Sendable {
    /// The checks, in the order in which they are told.
    package enum Name: String, Sendable, CaseIterable {
        /// The key of the installations can be read.
        case key
        /// SQLite's own check of the file.
        case database
        /// Checksums, numbers and records of every batch.
        case batches
        /// Every page of the saved state can be read back.
        case checkpoint
        /// The sums of SPEC 4.5, at the checkpoint and at the end.
        case sums
        /// No projection is ahead of the ledger, and none has lost what it needs.
        case positions
        /// Every confirmed event stands in the journal once.
        case journal
    }

    /// How a check ended.
    package enum Result: String, Sendable {
        case ok, failed, skipped
    }

    /// A number that the check came upon.
    struct Figure: Hashable, Sendable {
        let name: String
        let value: UInt64
    }

    /// The most findings that one check lists.
    static let maximumFindings = 20

    /// What was looked at.
    package let name: Name
    /// How it ended.
    package internal(set) var result = Result.ok
    /// What was seen, in one sentence.
    package internal(set) var sentence = ""
    /// What is wrong, one sentence each; the first 20.
    package private(set) var findings: [String] = []
    /// How many more there are.
    package private(set) var furtherFindings = 0
    var figures: [Figure] = []

    init(_ name: Name) {
        self.name = name
    }

    /// Tells of something that is wrong.
    mutating func fail(_ finding: String) {
        result = .failed
        if findings.count < Self.maximumFindings { findings.append(finding) } else { furtherFindings += 1 }
    }

    mutating func add(_ name: String, _ value: UInt64) {
        figures.append(Figure(name: name, value: value))
    }
}

/// What all checks of a ledger came to.
package struct LedgerVerdict: Hashable, Sendable {
    /// The ledger's id.
    package let ledger: String
    /// The checks, in their order.
    package let checks: [LedgerCheck]

    /// Whether no check failed.
    package var isSound: Bool { !checks.contains { $0.result == .failed } }
}
