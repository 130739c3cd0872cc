// SPDX-License-Identifier: Apache-2.0

/// The ids that logcat writes: the process, with a user in front of it or a thread behind it.
struct LogcatProcess {
    /// The last id but one, if there are several.
    private(set) var first: UInt64?
    /// The last id.
    private(set) var last: UInt64 = 0
    private var count = 0

    init() {}

    /// Consumes `( 4242)`, `(10123: 4242)` or `(u0_a123: 4242)`; nil for anything else.
    init?(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) {
        guard cursor.consume(UInt8(ascii: "("), bytes) else { return nil }
        repeat {
            cursor.skipSpaces(bytes)
            guard takeNext(bytes, &cursor) else { return nil }
        } while cursor.consume(UInt8(ascii: ":"), bytes)
        guard cursor.consume(UInt8(ascii: ")"), bytes), count > 0 else { return nil }
    }

    /// Consumes a number, or the name of a user, which is none of the ids; at most three.
    mutating func takeNext(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        guard count < 3 else { return false }
        let start = cursor.position
        if let number = cursor.digits(bytes), !isName(cursor.peek(bytes)) {
            first = count > 0 ? last : nil
            last = number
            count += 1
            return true
        }
        while isName(cursor.peek(bytes)) { cursor.position += 1 }
        return count == 0 && cursor.position > start && cursor.position - start <= 32
    }

    private func isName(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "_")
    }
}
