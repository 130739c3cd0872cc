// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore

/// Whether a connection's request has a place among those of all connections, and the request that waits for one.
///
/// A connection that was admitted beyond the limit asks ``ConnectionTable`` once the head of a request is read; what comes
/// behind the head is held back until a place is free.
struct RequestPlace {
    private let entry: ConnectionEntry?
    private let table: ConnectionTable
    private let served: ServedPaths
    /// What was held back, and whether to read on then.
    private var queued: (parts: [NIOAny], reads: Bool)?

    /// - Parameter entry: the connection in `table`; nil where no limit applies.
    init(_ entry: ConnectionEntry?, in table: ConnectionTable, _ served: ServedPaths) {
        self.entry = entry
        self.table = table
        self.served = served
    }

    /// Whether a request waits.
    var isQueued: Bool { queued != nil }

    /// Asks for a place for a request; a scrape or a health check needs none.
    func claim(for head: HTTPRequest, _ channel: any Channel, at now: NIODeadline) -> ConnectionTable.Claim {
        guard let entry, entry.isBeyondLimit, !served.isPage(head) else { return .granted }
        return table.claim(channel, at: now)
    }

    /// Lets the request wait.
    mutating func queue() {
        entry?.becomeBusy()
        queued = (parts: [], reads: false)
    }

    /// Holds back a part of the request that waits; false if none does.
    mutating func hold(_ part: NIOAny) -> Bool {
        guard isQueued else { return false }
        queued?.parts.append(part)
        return true
    }

    /// Holds back a read; false if no request waits.
    mutating func holdRead() -> Bool {
        guard isQueued else { return false }
        queued?.reads = true
        return true
    }

    /// Gives what was held back, once the request has its place; nil if none waits.
    mutating func release() -> (parts: [NIOAny], reads: Bool)? {
        defer { queued = nil }
        return queued
    }

    /// Forgets the request that waits.
    mutating func drop() {
        queued = nil
    }
}
