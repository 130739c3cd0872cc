// SPDX-License-Identifier: Apache-2.0

/// Why a ``ConfirmedJournalWriter`` couldn't be made.
public enum JournalWriterError: Error, Hashable, CustomStringConvertible {
    /// A name in the configuration is empty or has a line break or another control character.
    case name(String, value: String)
    /// The operating system gave no thread or descriptor.
    case resources(SystemError)

    /// What was expected, what was found and what to do.
    public var description: String {
        switch self {
        case .name(let setting, let value):
            "the \(setting) \"\(value)\" is empty or has control characters; give it a printable name"
        case .resources(let error):
            "no thread or descriptor for the journal writer: \(error); check the process' limits"
        }
    }
}
