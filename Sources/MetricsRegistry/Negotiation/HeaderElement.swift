// SPDX-License-Identifier: Apache-2.0

/// One element of an Accept or Accept-Encoding header: a value in lower case, its parameters and its weight.
struct HeaderElement: Equatable {
    /// The maximum bytes of a header that are read.
    static var maximumBytes: Int { 8_192 }
    /// The maximum elements of a header that are read.
    static var maximumElements: Int { 64 }
    /// The maximum parameters of an element that are read.
    static var maximumParameters: Int { 16 }

    /// The text before the first semicolon, in lower case.
    let value: String
    /// The parameters except `q`, with names in lower case; of duplicates the first.
    let parameters: [String: String]
    /// The weight in thousandths.
    let quality: Int

    /// The well-formed elements of a comma-separated header, in their order.
    ///
    /// This never fails: malformed elements and what exceeds the limits are skipped; so is an element that the limit
    /// of bytes cuts.
    static func list(_ header: String) -> [HeaderElement] {
        var cursor = HeaderCursor(header.utf8.prefix(maximumBytes))
        let isCut = header.utf8.count > maximumBytes
        var elements: [HeaderElement] = []
        for _ in 0..<maximumElements {
            let element = cursor.element()
            let isLast = !cursor.skipPastComma()
            if let element, !(isLast && isCut) { elements.append(element) }
            if isLast { break }
        }
        return elements
    }
}

/// A read position in a header: tokens, quoted strings and weights (RFC 9110, 5.6 and 12.4.2).
private struct HeaderCursor {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// The element at the cursor; nil if it is malformed, which leaves the cursor inside it.
    mutating func element() -> HeaderElement? {
        skipSpaces()
        guard var value = token() else { return nil }
        if take("/") {
            guard let subtype = token() else { return nil }
            value += "/\(subtype)"
        }
        var parameters: [String: String] = [:]
        var quality: Int?
        for _ in 0...HeaderElement.maximumParameters {
            skipSpaces()
            if isAtEnd || peek == UInt8(ascii: ",") {
                return HeaderElement(value: value.lowercased(), parameters: parameters, quality: quality ?? 1_000)
            }
            guard take(";") else { return nil }
            skipSpaces()
            guard let name = token()?.lowercased() else { continue }
            guard take("=") else { continue }
            if name == "q" {
                guard let text = token(), let weight = Self.thousandths(text) else { return nil }
                quality = quality ?? weight
            } else {
                guard let text = peek == UInt8(ascii: "\"") ? quoted() : token() else { return nil }
                if parameters[name] == nil { parameters[name] = text }
            }
        }
        return nil
    }

    /// Moves past the next comma outside quotes; false, and to the end, if there is none.
    mutating func skipPastComma() -> Bool {
        while let byte = peek {
            switch byte {
            case UInt8(ascii: ","):
                place += 1
                return true
            case UInt8(ascii: "\""):
                if quoted() == nil { place = bytes.count }
            default:
                place += 1
            }
        }
        return false
    }

    /// `0` to `1` with up to three decimals, in thousandths.
    static func thousandths(_ text: String) -> Int? {
        let digits = Array(text.utf8)
        guard let whole = digits.first, whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1") else { return nil }
        var value = Int(whole - UInt8(ascii: "0")) * 1_000
        if digits.count == 1 { return value }
        guard digits[1] == UInt8(ascii: "."), digits.count <= 5 else { return nil }
        var unit = 100
        for digit in digits[2...] {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            value += Int(digit - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return value <= 1_000 ? value : nil
    }

    private var isAtEnd: Bool { place >= bytes.count }
    private var peek: UInt8? { isAtEnd ? nil : bytes[place] }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func skipSpaces() {
        while peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") { place += 1 }
    }

    private mutating func token() -> String? {
        let start = place
        while let byte = peek, Self.isTokenByte(byte) { place += 1 }
        return start < place ? String(decoding: bytes[start..<place], as: UTF8.self) : nil
    }

    /// The quoted string at the cursor, unescaped; nil, and at the end, if it is not closed.
    private mutating func quoted() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = peek {
            place += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\"), let escaped = peek {
                place += 1
                text.append(escaped)
            } else {
                text.append(byte)
            }
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
