// SPDX-License-Identifier: Apache-2.0

/// Which way a reader goes through the journal.
enum JournalDirection: Sendable {
    case forward
    case backward
}
