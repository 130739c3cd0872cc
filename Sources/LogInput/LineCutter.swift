// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Splits a stream into whole lines, in bounded memory.
///
/// An overlong line is truncated to a length that the decoder still rejects as overlong. A run of NUL bytes, which a
/// crash or a truncation under a writer leaves in a file, ends a line.
package struct LineCutter: Sendable {
    /// The most bytes of a line: one more than the decoder takes.
    package static let longestLine = 64 << 10 + 1
    private static let newline = UInt8(ascii: "\n")
    /// Replaces the last byte of an overlong line, which the decoder does not read: with white space there, the line
    /// would not look overlong once it is trimmed.
    private static let mark = UInt8(ascii: "~")

    /// The beginning of a line whose end has not been read, as it is in the file.
    package private(set) var held: [UInt8] = []
    /// Whether the rest of an overlong line is being dropped.
    package private(set) var isSkipping: Bool
    private let dividesAtGaps: Bool

    /// - Parameter dividesAtGaps: whether a run of NUL bytes ends a line.
    package init(isSkipping: Bool = false, dividesAtGaps: Bool = true) {
        self.isSkipping = isSkipping
        self.dividesAtGaps = dividesAtGaps
    }

    /// Appends the lines that end in `bytes` and keeps the rest.
    package mutating func cut(_ bytes: [UInt8], into lines: inout [UInt8]) {
        let text = dividesAtGaps && hasGap(bytes) ? withoutGaps(bytes) : bytes
        var rest = text[...]
        if isSkipping {
            guard let end = rest.firstIndex(of: Self.newline) else { return }
            rest = rest[(end + 1)...]
            isSkipping = false
        }
        if let last = rest.lastIndex(of: Self.newline) {
            lines += held
            lines += rest[...last]
            held.removeAll(keepingCapacity: true)
            rest = rest[(last + 1)...]
        }
        held += rest
        guard held.count > Self.longestLine else { return }
        lines += held[..<(Self.longestLine - 1)]
        lines += [Self.mark, Self.newline]
        held.removeAll()
        isSkipping = true
    }

    /// Appends the incomplete last line as a line.
    package mutating func finish(into lines: inout [UInt8]) {
        if !held.isEmpty {
            lines += held
            lines.append(Self.newline)
        }
        self = LineCutter(dividesAtGaps: dividesAtGaps)
    }

    private func hasGap(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return unsafe memchr(base, 0, bytes.count) != nil
        }
    }

    /// The bytes with each NUL run inside a line replaced by a line feed, and those between lines removed.
    private func withoutGaps(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var isInsideLine = !held.isEmpty || isSkipping
        for byte in bytes {
            if byte != 0 {
                text.append(byte)
                isInsideLine = byte != Self.newline
            } else if isInsideLine {
                text.append(Self.newline)
                isInsideLine = false
            }
        }
        return text
    }
}
