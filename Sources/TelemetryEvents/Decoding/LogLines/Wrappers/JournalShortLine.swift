// SPDX-License-Identifier: Apache-2.0

/// `2025-11-15T05:48:00+0000 host app[4242]: message`, and the other short forms of journalctl.
enum JournalShortLine {
    /// Takes what follows the time; false when it is in another wrapper.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        RFC3164Line.takeRest(bytes, rest, into: &line)
    }

    /// Consumes the day of the week that `short-full` writes in front of the date.
    static func skipWeekday(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        guard cursor.peek(bytes, 3) == UInt8(ascii: " "), cursor.peek(bytes, 4).isDigit else { return false }
        switch bytes.paddedWord(at: cursor.position) & 0xFF_FFFF | 0x20_2020 {
        case 0x6E_6F6D, 0x65_7574, 0x64_6577, 0x75_6874, 0x69_7266, 0x74_6173, 0x6E_7573:  // mon, tue ... sun
            cursor.position += 4
            return true
        default: return false
        }
    }
}
