// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Splits an input into chunks of whole lines, in one reused buffer.
///
/// Every line ends with a line feed, also the last one. A line longer than the buffer is truncated to half the buffer.
package struct LineChunks: ~Copyable {
    /// The size of the buffer in bytes: small enough that what is parsed of it stays in a core's cache.
    package static let capacity = 1 << 18

    private var input: InputBytes
    private var buffer: [UInt8]
    /// The end of the lines of the last chunk; behind it begins the next line.
    private var cut = 0
    private var filled = 0
    private var hasEnded = false
    private var isDropping = false
    /// Whether chunks end where the input pauses, and not where the buffer is full.
    private let isLive: Bool

    /// - Parameter isLive: whether lines are handed on as soon as the input pauses.
    package init(_ input: consuming InputBytes, capacity: Int = Self.capacity, isLive: Bool = false) {
        self.isLive = isLive && !input.isCompressed
        self.input = input
        buffer = [UInt8](repeating: 0, count: max(capacity, 16))
    }

    /// The bytes read of the file, before decompression.
    package var consumed: Int { input.consumed }

    /// Reads the beginning.
    ///
    /// - Throws: `InputError` for a tar archive, whose contents would be judged as text.
    package mutating func checkFormat() throws(InputError) {
        try fill()
        guard TarHeader.begins(buffer[..<filled]) else { return }
        throw InputError(
            input: input.name,
            problem: "it is a tar archive; name the log in it: pipe `tar -xOf FILE LOG` into `-`"
        )
    }

    /// Whether the input is a JSON document rather than lines. The bytes it examines stay in the buffer.
    package mutating func beginDocument() throws(InputError) -> Bool {
        try fill()
        return JSONDocuments.begins(buffer[..<filled], isWhole: hasEnded)
    }

    /// Calls `body` with the next lines; false at the end.
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

    /// Reads the rest of the input; nil when it is larger than the limit.
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
    /// How long a live input may be silent before its lines are handed on, in milliseconds.
    private static let pause: Int32 = 20

    private mutating func discardTaken() {
        guard cut > 0 else { return }
        let rest = filled - cut
        for index in 0..<rest { buffer[index] = buffer[cut + index] }
        filled = rest
        cut = 0
    }

    private mutating func fill() throws(InputError) {
        while !hasEnded, filled < buffer.count {
            if isLive, filled > 0, lastLineFeed() != nil, !input.wait(milliseconds: Self.pause) { return }
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

    /// Drops the rest of a long line; false while its end has not been read.
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

/// Recognises tar archives by their first block.
private enum TarHeader {
    private static let block = 512

    /// By the magic at 257 or, in the oldest form, by the checksum over a name that ends in NULs.
    static func begins(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= block else { return false }
        let head = Array(bytes.prefix(block))
        if head[257...].starts(with: Array("ustar".utf8)) { return true }
        let field = head[148..<156].filter { (0x30...0x37).contains($0) }
        guard head[99] == 0, field.count >= 4, let told = Int(String(decoding: field, as: UTF8.self), radix: 8) else {
            return false
        }
        return told == head.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
    }
}

/// Distinguishes a JSON document, which is decoded whole, from lines.
package enum JSONDocuments {
    /// The largest accepted document, in bytes.
    package static let limit = 64 << 20

    /// Whether an input is a JSON document by its first bytes: an array of objects, an envelope of events, or an object
    /// that spans several lines. NDJSON is no document, nor is the array of Apple's log.
    ///
    /// - Parameter isWhole: whether the bytes are the whole input.
    package static func begins(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> Bool {
        var rest = bytes
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        rest = rest.drop(while: isBlank)
        guard let first = rest.first else { return false }
        let inside = rest.dropFirst().drop(while: isBlank)
        switch first {
        case UInt8(ascii: "["):
            if AppleLogArray.begins(rest.span) { return false }
            guard let second = inside.first else { return false }
            return second == UInt8(ascii: "{") || second == UInt8(ascii: "]")
        case UInt8(ascii: "{"):
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            guard inside.first == UInt8(ascii: "\"") || inside.first == UInt8(ascii: "}") else { return false }
            if line.count == rest.count { return isWhole }
            return isContinued(line) || isEnvelope(line)
        default:
            return false
        }
    }

    /// Whether a line ends where an object cannot.
    private static func isContinued(_ line: ArraySlice<UInt8>) -> Bool {
        guard let last = line.last(where: { !isBlank($0) }) else { return false }
        return last == UInt8(ascii: "{") || last == UInt8(ascii: "[") || last == UInt8(ascii: ",")
            || last == UInt8(ascii: ":")
    }

    /// Whether the line holds an array named `events`.
    private static func isEnvelope(_ line: ArraySlice<UInt8>) -> Bool {
        let name = Array(#""events""#.utf8)
        var rest = line
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[quote...]
            if rest.starts(with: name) {
                let value = rest.dropFirst(name.count).drop(while: isBlank)
                guard value.first == UInt8(ascii: ":") else { return false }
                return value.dropFirst().drop(while: isBlank).first == UInt8(ascii: "[")
            }
            rest = rest.dropFirst()
        }
        return false
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
