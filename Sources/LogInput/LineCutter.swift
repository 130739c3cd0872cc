// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Divides what is read into whole lines, in bounded memory.
///
/// A line that is too long is handed on with its beginning, which is still too long for the decoder, and without its
/// rest. A gap of NUL bytes, as a crash or a truncation under a writer leaves it in a file, ends a line.
package struct LineCutter: Sendable {
    /// The most bytes of a line: one more than the decoder takes.
    package static let longestLine = 64 << 10 + 1
    private static let newline = UInt8(ascii: "\n")

    /// The beginning of a line whose end has not been read, as it stands in the file.
    package private(set) var held: [UInt8] = []
    /// Whether the rest of a line that is too long is being passed over.
    package private(set) var isSkipping: Bool
    private let dividesAtGaps: Bool

    /// - Parameter dividesAtGaps: whether a gap of NUL bytes ends a line.
    package init(isSkipping: Bool = false, dividesAtGaps: Bool = true) {
        self.isSkipping = isSkipping
        self.dividesAtGaps = dividesAtGaps
    }

    /// Appends the lines that end in `bytes` and holds the rest back.
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
        lines += held[..<Self.longestLine]
        lines.append(Self.newline)
        held.removeAll()
        isSkipping = true
    }

    /// Appends what is held back as a line: its end will never come.
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

    /// The bytes with each gap inside a line as a line feed, and without those between lines.
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
