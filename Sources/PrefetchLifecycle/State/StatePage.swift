// SPDX-License-Identifier: Apache-2.0

/// One page of the fold's checkpointed state.
public struct StatePage: Hashable, Sendable {
    /// The page's name; pages are restored in the order of their names.
    public var key: String
    /// Its content.
    public var value: [UInt8]

    /// Makes a page.
    public init(key: String, value: [UInt8]) {
        self.key = key
        self.value = value
    }
}

/// Checkpointed state that cannot be read back.
public struct StateError: Error, Sendable, CustomStringConvertible {
    /// The page's name.
    public let key: String
    /// What is wrong with it.
    public let problem: StaticString

    init(key: String, problem: StaticString) {
        self.key = key
        self.problem = problem
    }

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected a readable page of state under \"\(key)\", found \(problem); "
            + "the ledger is damaged or was written by another version"
    }
}

/// Numbers in the order of their text: eight hexadecimal digits.
func sortable(_ number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
}
