// SPDX-License-Identifier: Apache-2.0

/// The client's cumulative counters as an event carries them: pairs of a `ClientCounter` and its value.
enum ClientCountersRecord {
    static func append(_ counter: ClientCounter, _ value: UInt64, to output: inout [UInt8]) {
        output.append(counter.rawValue)
        output.appendVarint(value)
    }

    static func forEach(
        _ bytes: Span<UInt8>,
        _ range: Event.Text,
        _ body: (ClientCounter, UInt64) -> Void
    ) throws(EventRecordError) {
        let counters = bytes.extracting(range)
        var reader = RecordReader(start: 0)
        while reader.position < counters.count {
            guard let counter = ClientCounter(rawValue: try reader.byte(counters)) else {
                throw reader.error("an unknown client counter")
            }
            body(counter, try reader.varint(counters))
        }
    }
}

extension Event {
    /// Calls `body` with each cumulative counter that the client sent along, in the client's order.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public func forEachClientCounter(
        in bytes: Span<UInt8>,
        _ body: (ClientCounter, UInt64) -> Void
    ) throws(EventRecordError) {
        try ClientCountersRecord.forEach(bytes, clientCounters, body)
    }
}
