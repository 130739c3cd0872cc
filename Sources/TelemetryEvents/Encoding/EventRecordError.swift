// SPDX-License-Identifier: Apache-2.0

/// Bytes that should be a compact event record and are not: damage, or a newer format.
public struct EventRecordError: Error, Sendable, CustomStringConvertible {
    /// Where in the batch the record begins.
    public let offset: Int
    /// What is wrong with it.
    public let problem: StaticString

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected a compact event record at byte \(offset) of the batch, found \(problem); "
            + "the ledger is damaged or was written by a newer version"
    }
}
