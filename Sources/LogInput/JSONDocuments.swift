// SPDX-License-Identifier: Apache-2.0

/// Tells a JSON document, which is decoded as a whole, from lines.
package enum JSONDocuments {
    /// The largest document that is read, in bytes.
    package static let limit = 64 << 20

    /// Whether an input is a JSON document by its first bytes: an array of objects, an envelope of events, or an object
    /// that goes on behind its first line. An object on each line is no document.
    ///
    /// - Parameter isWhole: whether there is nothing behind the bytes.
    package static func begins(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> Bool {
        var rest = bytes
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        rest = rest.drop(while: isBlank)
        guard let first = rest.first else { return false }
        let inside = rest.dropFirst().drop(while: isBlank)
        switch first {
        case UInt8(ascii: "["):
            guard let second = inside.first else { return false }
            return second == UInt8(ascii: "{") || second == UInt8(ascii: "]")
        case UInt8(ascii: "{"):
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            guard inside.first == UInt8(ascii: "\"") || inside.first == UInt8(ascii: "}") else { return false }
            if line.count == rest.count { return isWhole }
            return goesOn(line) || isEnvelope(line)
        default:
            return false
        }
    }

    /// Whether a line ends where an object cannot.
    private static func goesOn(_ line: ArraySlice<UInt8>) -> Bool {
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
