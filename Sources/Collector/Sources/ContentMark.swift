// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// The first and the last bytes before an offset, by which a file's content is known again: after a copy, and as no
/// longer the same after it was truncated and written anew.
struct ContentMark: Hashable, Sendable {
    static let headBytes = 1_024
    static let tailBytes = 256

    private(set) var head: [UInt8] = []
    private(set) var tail: [UInt8] = []

    init() {}

    init(head: [UInt8], tail: [UInt8]) {
        self.head = head
        self.tail = tail
    }

    /// Where the head of what lies before an offset is.
    static func headRange(before offset: UInt64) -> Range<UInt64> { 0..<min(offset, UInt64(headBytes)) }

    /// Where the tail of what lies before an offset is.
    static func tailRange(before offset: UInt64) -> Range<UInt64> {
        (offset - min(offset, UInt64(tailBytes)))..<offset
    }

    /// Moves on behind some bytes.
    mutating func append(_ bytes: some Collection<UInt8>) {
        if head.count < Self.headBytes { head += bytes.prefix(Self.headBytes - head.count) }
        tail += bytes.suffix(Self.tailBytes)
        if tail.count > Self.tailBytes { tail.removeFirst(tail.count - Self.tailBytes) }
    }

    func appending(_ bytes: some Collection<UInt8>) -> ContentMark {
        var mark = self
        mark.append(bytes)
        return mark
    }

    /// A keyed hash of both, so that the ledger holds nothing of the log; 0 at the beginning of a file.
    func fingerprint(_ pseudonyms: any Pseudonymising) -> UInt64 {
        if tail.isEmpty { return 0 }
        let bytes = head + tail
        return pseudonyms.pseudonym(of: bytes.span).high | 1
    }
}
