// SPDX-License-Identifier: Apache-2.0

/// Which state of a cycle is compared by its hash (SPEC 5.4). MD5 finds corruption, not tampering.
public enum IntegrityCheck: UInt8, CaseIterable, Sendable {
    /// The content when it was cached and when it was used.
    case content = 0
    /// The schedule when it was set and when its task was executed.
    case schedule = 1

    /// The label value.
    public var name: StaticString {
        switch self {
        case .content: "content"
        case .schedule: "schedule"
        }
    }
}

/// What the comparison of two hashes came to.
public enum IntegrityResult: UInt8, CaseIterable, Sendable {
    case match = 0
    case mismatch = 1

    /// The label value.
    public var name: StaticString {
        switch self {
        case .match: "match"
        case .mismatch: "mismatch"
        }
    }
}
