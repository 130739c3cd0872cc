// SPDX-License-Identifier: Apache-2.0

/// What is known of the rows of one projection's state that do not count or do not count yet.
struct StateUpkeep: Sendable {
    /// Where the search for rows that an earlier process left goes on; nil once it has ended.
    var searchFrom: StateKey? = ""
    /// The keys that were written of the generation to come.
    var staged: [StateKey] = []
    /// Keys that may have rows to delete.
    var outdated: [StateKey] = []

    /// Whether there is nothing to delete, so that a new generation may begin or go on.
    var isTidy: Bool { searchFrom == nil && outdated.isEmpty }
}
