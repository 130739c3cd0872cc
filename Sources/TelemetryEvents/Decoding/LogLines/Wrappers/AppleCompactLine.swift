// SPDX-License-Identifier: Apache-2.0

/// `2025-11-15 05:48:00.123 Df App[4242:1f2e] (Library) [subsystem:category] message`
enum AppleCompactLine {
    /// Takes what follows the time; false when it is in another wrapper.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        XcodeLine.takeRest(bytes, rest, into: &line)
    }
}
