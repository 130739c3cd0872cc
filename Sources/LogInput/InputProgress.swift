// SPDX-License-Identifier: Apache-2.0

internal import TextOutput

/// How far a run has come.
package struct InputProgress: Hashable, Sendable {
    /// The bytes read of all inputs, compressed ones where they are compressed.
    package var bytes = 0
    /// The bytes of all inputs; nil where one of them is no regular file.
    package var totalBytes: Int?
    /// The lines read.
    package var lines: UInt64 = 0

    package init(bytes: Int = 0, totalBytes: Int? = nil, lines: UInt64 = 0) {
        self.bytes = bytes
        self.totalBytes = totalBytes
        self.lines = lines
    }

    /// The progress as a line: percent where it is known, lines, and lines a second.
    package func line(elapsedSeconds: Double) -> String {
        var parts: [String] = []
        if let totalBytes, totalBytes > 0 { parts.append("\(min(bytes, totalBytes) * 100 / totalBytes) %") }
        parts.append("\(lines.grouped) lines")
        if elapsedSeconds > 0 { parts.append("\(UInt64(Double(lines) / elapsedSeconds).grouped) lines/s") }
        return parts.joined(separator: ", ")
    }
}
