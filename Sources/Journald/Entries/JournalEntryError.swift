// SPDX-License-Identifier: Apache-2.0

/// Why an entry wasn't taken into a ``JournalEntryBuffer``.
public enum JournalEntryError: Error, Hashable, CustomStringConvertible {
    /// The entry has no field of its own.
    case empty(sequence: UInt64)
    /// The entry has more fields than journald takes from one.
    case tooManyFields(sequence: UInt64, limit: Int)
    /// The encoded entry is larger than the buffer's limit for one.
    case tooLarge(sequence: UInt64, limit: Int)
    /// The sequence number doesn't lie above the previous entry's.
    case notAscending(sequence: UInt64, previous: UInt64)
    /// A closure that was to write a value took bytes away that were there before; the buffer has been emptied.
    case overwritten(sequence: UInt64)

    /// What was expected, what was found and what to do.
    public var description: String {
        switch self {
        case .empty(let sequence):
            "entry \(sequence) has no fields; append at least MESSAGE"
        case .tooManyFields(let sequence, let limit):
            "entry \(sequence) has more than \(limit) fields; journald would refuse it"
        case .tooLarge(let sequence, let limit):
            "entry \(sequence) takes more than \(limit) bytes; shorten its values or raise the buffer's limit"
        case .notAscending(let sequence, let previous):
            "entry \(sequence) follows entry \(previous); sequence numbers must ascend within a buffer"
        case .overwritten(let sequence):
            "a value of entry \(sequence) removed bytes in front of it; a writing closure may only append"
        }
    }
}
