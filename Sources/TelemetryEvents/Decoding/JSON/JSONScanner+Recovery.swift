// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Moves past a broken value by its brackets alone, so that its neighbours in the list can still be read.
    ///
    /// Stops behind the bracket that closes the value, before a comma or a closing bracket of the enclosing list, at
    /// a line feed inside a string (its quote is missing, so no bracket behind it can be trusted), or at the end.
    ///
    /// - Returns: whether the end of the value was found.
    @discardableResult
    mutating func skipBrokenElement(_ bytes: Span<UInt8>) -> Bool {
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard skipString(bytes) else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return true }
                depth -= 1
                if depth == 0 {
                    position += 1
                    return true
                }
            case UInt8(ascii: ",") where depth == 0:
                return true
            default:
                break
            }
            position += 1
        }
        return false
    }

    /// Moves past a string, whatever it holds; false when a line feed or the end comes before its quote.
    private mutating func skipString(_ bytes: Span<UInt8>) -> Bool {
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\\"):
                position = min(position + 2, bytes.count)
            case UInt8(ascii: "\""):
                position += 1
                return true
            case UInt8(ascii: "\n"):
                return false
            default:
                position += 1
            }
        }
        return false
    }

    /// Moves past at least one byte, to the next object or array or to the line's end.
    mutating func skipGarbage(_ bytes: Span<UInt8>) {
        guard position < bytes.count else { return }
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\n"): return
            default: position += 1
            }
        }
    }

    /// Where the current line's line feed stands, or the end.
    func endOfLine(_ bytes: Span<UInt8>) -> Int {
        var index = position
        while let word = bytes.wordIfThere(at: index) {
            let lineFeeds = word.bytes(equalTo: UInt8(ascii: "\n"))
            if lineFeeds != 0 { return index &+ lineFeeds.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while let byte = bytes.byte(at: index), byte != UInt8(ascii: "\n") { index &+= 1 }
        return index
    }
}
