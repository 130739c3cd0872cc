// SPDX-License-Identifier: Apache-2.0

/// The texts of the event being decoded, each brought into the form in which it may leave the decoder (SPEC 4.7).
///
/// | text | what leaves |
/// | --- | --- |
/// | schedule id, event id | as given; `redacted-h` and a keyed hash where it holds something personal |
/// | error | its domain and code, or the identifier it begins with; never a sentence |
/// | versions, platform, model | as given when at most 64 bytes of the characters that such names have; else nothing |
/// | hashes | lower-case hexadecimal digits |
struct EventTexts: Sendable {
    /// The bytes that the event's text ranges point into.
    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Copies a JSON string with its escapes resolved.
    mutating func copy(_ text: JSONText, from input: Span<UInt8>) -> Event.Text {
        let start = bytes.count
        if text.isEscaped {
            bytes.appendUnescaped(input, text.range)
        } else {
            bytes.append(input, text.range)
        }
        return start..<bytes.count
    }

    /// Copies a text.
    mutating func copy(_ input: Span<UInt8>, _ range: Range<Int>) -> Event.Text {
        let start = bytes.count
        bytes.append(input, range)
        return start..<bytes.count
    }

    /// Appends an identifier that has been looked at before.
    mutating func append(_ identifier: [UInt8]) -> Event.Text {
        let start = bytes.count
        bytes.append(contentsOf: identifier)
        return start..<bytes.count
    }

    mutating func append(_ counter: ClientCounter, _ value: UInt64) {
        ClientCountersRecord.append(counter, value, to: &bytes)
    }

    /// The identifier itself, or what stands for it.
    mutating func identifier(_ text: Event.Text, _ pseudonyms: any Pseudonymising) -> Event.Text {
        guard SensitiveText.isFound(in: bytes.span, text) else { return text }
        let pseudonym = pseudonyms.pseudonym(of: bytes.span.extracting(text))
        let start = bytes.count
        // The letter keeps the digits behind it from looking like a telephone number.
        bytes.append("redacted-h")
        bytes.appendHex(pseudonym.high)
        return start..<bytes.count
    }

    /// The error's domain and code, or its leading identifier.
    mutating func errorIdentifier(_ text: Event.Text) -> Event.Text {
        if SensitiveText.isFound(in: bytes.span, text) { return appended("redacted") }
        if let domain = value(of: "Domain=", in: text) {
            let code = value(of: "Code=", in: text)
            let start = bytes.count
            for index in domain { bytes.append(bytes[index]) }
            if let code {
                bytes.append(" Code=")
                for index in code { bytes.append(bytes[index]) }
            }
            return start..<bytes.count
        }
        var start = text.lowerBound
        while start < text.upperBound, bytes[start] == UInt8(ascii: " ") { start += 1 }
        let identifier = start..<endOfIdentifier(from: start, in: text)
        if let code = value(of: " Code=", in: text), code.lowerBound == identifier.upperBound + 6, !identifier.isEmpty {
            return identifier.lowerBound..<code.upperBound
        }
        return identifier.upperBound == text.upperBound || isCode(identifier) ? identifier : 0..<0
    }

    /// Whether a word is made like an error's name and not like a word of a sentence: with an underscore, a dot, a digit
    /// or a capital inside.
    private func isCode(_ word: Range<Int>) -> Bool {
        word.dropFirst().contains { index in
            let byte = bytes[index]
            return byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte.isDigit
                || byte.lowercasedASCII != byte
        }
    }

    /// The text when it is as short as a version, a platform or a model and looks like one; else empty.
    ///
    /// - Parameter needsDigit: for names that people give to things, since those of makers have numbers.
    static func nameOrVersion(_ text: Event.Text, in bytes: Span<UInt8>, needsDigit: Bool = false) -> Event.Text {
        guard text.count <= longestIdentifier else { return 0..<0 }
        var hasDigit = false
        for index in text {
            if bytes[index].isDigit { hasDigit = true }
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "+"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "/"):
                continue
            default:
                guard bytes[index].isLetterOrDigit else { return 0..<0 }
            }
        }
        if needsDigit, !hasDigit { return 0..<0 }
        return SensitiveText.isFound(in: bytes, text) ? 0..<0 : text
    }

    /// Whether a hash is already as `hash(_:)` makes it.
    static func isLowercaseHash(_ text: Event.Text, in bytes: Span<UInt8>) -> Bool {
        for index in text where !bytes[index].isHexDigit || bytes[index].lowercasedASCII != bytes[index] {
            return false
        }
        return true
    }

    /// The hash in lower case, or nil when it has other characters than hexadecimal digits.
    mutating func hash(_ text: Event.Text) -> Event.Text? {
        for index in text {
            guard bytes[index].isHexDigit else { return nil }
            bytes[index] = bytes[index].lowercasedASCII
        }
        return text
    }

    private static let longestIdentifier = 64

    private func endOfIdentifier(from start: Int, in text: Event.Text) -> Int {
        var index = start
        while index < text.upperBound, index - start < Self.longestIdentifier {
            let byte = bytes[index]
            guard
                byte.isLetterOrDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
                    || byte == UInt8(ascii: "-")
            else { break }
            index += 1
        }
        return index
    }

    private func value(of key: StaticString, in text: Event.Text) -> Range<Int>? {
        let length = key.utf8CodeUnitCount
        var start = text.lowerBound
        while start + length < text.upperBound {
            if bytes.span.equals(key, in: start..<start + length) {
                let end = endOfIdentifier(from: start + length, in: text)
                return end > start + length ? start + length..<end : nil
            }
            start += 1
        }
        return nil
    }

    private mutating func appended(_ text: StaticString) -> Event.Text {
        let start = bytes.count
        bytes.append(text)
        return start..<bytes.count
    }
}
