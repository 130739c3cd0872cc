// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Cuts an input into chunks of whole lines, in one buffer that is used again.
///
/// Every line handed out ends with a line feed, also the last. Of a line that is longer than the buffer the first half
/// of the buffer is handed out as a line, and the rest is dropped.
package struct LineChunks: ~Copyable {
    /// How many bytes are read at once: few enough that what is parsed of them stays in a core's cache.
    package static let capacity = 1 << 18

    private var input: InputBytes
    private var buffer: [UInt8]
    /// The lines handed out last, and behind them what begins the next.
    private var cut = 0
    private var filled = 0
    private var hasEnded = false
    private var isDropping = false

    package init(_ input: consuming InputBytes, capacity: Int = Self.capacity) {
        self.input = input
        buffer = [UInt8](repeating: 0, count: max(capacity, 16))
    }

    /// How many bytes of the file have been read.
    package var consumed: Int { input.consumed }

    /// Whether the input is a JSON document rather than lines. What was looked at comes again.
    package mutating func beginDocument() throws(InputError) -> Bool {
        try fill()
        return JSONDocuments.begins(buffer[..<filled], isWhole: hasEnded)
    }

    /// Hands the next lines to `body`; false at the end.
    package mutating func next(_ body: (Span<UInt8>) -> Void) throws(InputError) -> Bool {
        while true {
            discardTaken()
            try fill()
            if isDropping {
                guard dropToEndOfLine() else { continue }
                if filled == 0, hasEnded { return false }
                continue
            }
            if filled == 0 { return false }
            if hasEnded, filled < buffer.count {
                if buffer[filled - 1] != Self.lineFeed {
                    buffer[filled] = Self.lineFeed
                    filled += 1
                }
                cut = filled
            } else if let last = lastLineFeed() {
                cut = last + 1
            } else {
                cutLongLine()
            }
            body(buffer.span.extracting(0..<cut))
            return true
        }
    }

    /// Reads the rest of an input as a whole.
    ///
    /// - Returns: nil when it is larger than the limit.
    package mutating func whole(limit: Int) throws(InputError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            discardTaken()
            try fill()
            if filled == 0 { return bytes }
            guard bytes.count + filled <= limit else { return nil }
            bytes.append(contentsOf: buffer[..<filled])
            cut = filled
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")

    private mutating func discardTaken() {
        guard cut > 0 else { return }
        let rest = filled - cut
        for index in 0..<rest { buffer[index] = buffer[cut + index] }
        filled = rest
        cut = 0
    }

    private mutating func fill() throws(InputError) {
        while !hasEnded, filled < buffer.count {
            let count = try input.read(into: &buffer, from: filled)
            if count == 0 { hasEnded = true }
            filled += count
        }
    }

    private func lastLineFeed() -> Int? {
        var index = filled
        while index > 0 {
            index -= 1
            if buffer[index] == Self.lineFeed { return index }
        }
        return nil
    }

    private mutating func cutLongLine() {
        cut = buffer.count / 2
        buffer[cut - 1] = Self.lineFeed
        filled = cut
        isDropping = true
    }

    /// Drops what is left of a long line; false when its end has not come yet.
    private mutating func dropToEndOfLine() -> Bool {
        var index = 0
        while index < filled, buffer[index] != Self.lineFeed { index += 1 }
        let isAtEnd = index < filled || hasEnded
        cut = min(index + 1, filled)
        discardTaken()
        isDropping = !isAtEnd
        return isAtEnd
    }
}
