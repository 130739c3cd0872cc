// SPDX-License-Identifier: Apache-2.0

/// How far a run has come.
public struct JudgementProgress: Hashable, Sendable {
    /// The bytes read of all inputs, compressed ones where they are compressed.
    public var bytes = 0
    /// The bytes of all inputs; nil where one of them is no regular file.
    public var totalBytes: Int?
    /// The lines read.
    public var lines: UInt64 = 0

    /// The progress as a line: percent where it is known, lines, and lines a second.
    public func line(elapsedSeconds: Double) -> String {
        var parts: [String] = []
        if let totalBytes, totalBytes > 0 { parts.append("\(min(bytes, totalBytes) * 100 / totalBytes) %") }
        parts.append("\(Self.grouped(lines)) lines")
        if elapsedSeconds > 0 { parts.append("\(Self.grouped(UInt64(Double(lines) / elapsedSeconds))) lines/s") }
        return parts.joined(separator: ", ")
    }

    private static func grouped(_ number: UInt64) -> String {
        let digits = Array(String(number))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }
}
