// SPDX-License-Identifier: Apache-2.0

/// Messages of `io.prometheus.client` that stand in several places.
extension ByteCursor {
    /// Bytes that a timestamp takes at most, with its tag and length.
    static var timestampRoom: Int { 2 + 2 * (1 + varintRoom) }

    /// Writes a `google.protobuf.Timestamp` of microseconds since 1970, which aren't negative.
    @inline(__always)
    mutating func write(tag: UInt8, timestamp microseconds: Int64) {
        let (seconds, fraction) = UInt64(max(microseconds, 0)).quotientAndRemainder(dividingBy: 1_000_000)
        write(tag: tag) { message in
            if seconds != 0 { message.write(tag: 0x08, varint: seconds) }
            if fraction != 0 { message.write(tag: 0x10, varint: fraction * 1_000) }
        }
    }

    /// Writes when a series began, unless that isn't known.
    @inline(__always)
    mutating func write(tag: UInt8, created: Span<UInt64>, ofSeries place: Int) {
        guard place < created.count else { return }
        let microseconds = Int64(bitPattern: created[place])
        if microseconds > 0 { write(tag: tag, timestamp: microseconds) }
    }

    mutating func write(tag: UInt8, labelName name: String, value: String) {
        write(tag: tag) { pair in
            pair.write(tag: 0x0A, text: name)
            pair.write(tag: 0x12, text: value)
        }
    }

    mutating func write(tag: UInt8, _ exemplar: Exemplar) {
        write(tag: tag) { message in
            for label in exemplar.labels { message.write(tag: 0x0A, labelName: label.name, value: label.value) }
            message.write(tag: 0x11, fixed: exemplar.value.bitPattern)
            message.write(tag: 0x1A, timestamp: exemplar.timestamp)
        }
    }
}

extension Exemplar {
    /// Bytes that the message takes at most, with its tag and length.
    var messageRoom: Int {
        let fixed = 3 * ByteCursor.varintRoom + 16 + ByteCursor.timestampRoom
        return labels.reduce(fixed) { $0 + ProtobufLabels.room($1.name, $1.value) }
    }
}

/// The labels of a series as a `Metric` has them.
enum ProtobufLabels {
    static func bytes(_ labels: [(name: String, value: String)]) -> [UInt8] {
        let room = labels.reduce(0) { $0 + Self.room($1.name, $1.value) }
        return unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            var cursor = unsafe ByteCursor(UnsafeMutableRawBufferPointer(buffer))
            for label in labels { cursor.write(tag: 0x0A, labelName: label.name, value: label.value) }
            count = cursor.written
        }
    }

    /// Bytes that a label takes at most.
    static func room(_ name: String, _ value: String) -> Int {
        name.utf8.count + value.utf8.count + 3 * (1 + ByteCursor.varintRoom)
    }
}
