// SPDX-License-Identifier: Apache-2.0

/// A key of the installations that cannot be used. Going on without it would give every installation a new pseudonym
/// and let every remembered event count again, so the service does not start.
public struct InstallationKeyError: Error, Sendable, CustomStringConvertible {
    /// The key's file.
    public let path: String
    /// What is wrong with it.
    public let problem: String

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected the key of the installations in \(path), but \(problem); restore the file, or move the whole state "
            + "directory away to begin anew with other pseudonyms"
    }
}
