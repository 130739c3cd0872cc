// SPDX-License-Identifier: Apache-2.0

/// What is known of the rows of one projection's state that do not count or do not count yet.
struct StateUpkeep: Sendable {
    /// Where the search for rows that an earlier process left goes on; nil once it has ended.
    var searchFrom: StateKey? = ""
    /// Keys that may have rows to delete.
    var outdated: [StateKey] = []
    /// The size of the last checkpoint's changes, in bytes: what the next one may need before what it replaces is deleted.
    private(set) var committedBytes = 0
    /// The keys that were written of the generation to come, and the bytes.
    private var staged: [StateKey] = []
    private var stagedBytes = 0

    /// Whether there is nothing to delete, so that a new generation may begin or go on.
    var isTidy: Bool { searchFrom == nil && outdated.isEmpty }

    mutating func staged(_ keys: [StateKey], bytes: Int) {
        staged += keys
        stagedBytes += bytes
    }

    /// What was staged counts now, and what it replaced does not.
    mutating func committed() {
        committedBytes = stagedBytes
        discard()
    }

    /// Nothing that was staged is part of a generation to come any more.
    mutating func discard() {
        outdated += staged
        staged = []
        stagedBytes = 0
    }
}
