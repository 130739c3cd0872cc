// SPDX-License-Identifier: Apache-2.0

/// The texts of the event being decoded, each redacted to a form that may leave the decoder (docs/security.md).
///
/// | text | what leaves |
/// | --- | --- |
/// | schedule id, event id | unchanged; `redacted-h` and a keyed hash if it contains personal data |
/// | error | its domain and code, or its leading identifier; never a sentence |
/// | versions, platform, model | unchanged if at most 64 bytes of the characters usual in such names; else nothing |
/// | hashes | lower-case hexadecimal digits |
struct EventTexts: Sendable {
    /// The bytes that the event's text ranges refer to.
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

    /// Copies a JSON string and resolves its escapes.
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

    /// Appends an identifier that has already been redacted.
    mutating func append(_ identifier: [UInt8]) -> Event.Text {
        let start = bytes.count
        bytes.append(contentsOf: identifier)
        return start..<bytes.count
    }

    mutating func append(_ counter: ClientCounter, _ value: UInt64) {
        ClientCountersRecord.append(counter, value, to: &bytes)
    }

    /// The identifier itself, or its redacted form.
    mutating func identifier(_ text: Event.Text, _ pseudonyms: any Pseudonymising) -> Event.Text {
        guard SensitiveText.isFound(in: bytes.span, text) else { return text }
        let pseudonym = pseudonyms.pseudonym(of: bytes.span.extracting(text))
        let start = bytes.count
        // The letter keeps the following digits from looking like a telephone number.
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

    /// Whether a word looks like an error's name rather than prose: it contains an underscore, a dot, a digit or an
    /// inner capital.
    private func isCode(_ word: Range<Int>) -> Bool {
        word.dropFirst().contains { index in
            let byte = bytes[index]
            return byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte.isDigit
                || byte.lowercasedASCII != byte
        }
    }

    /// The text if it is as short as a version, a platform or a model and looks like one; else empty.
    ///
    /// - Parameter needsDigit: set for names that users choose; manufacturers' model names contain a digit.
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

    /// Whether a hash is already in the form that `hash(_:)` produces.
    static func isLowercaseHash(_ text: Event.Text, in bytes: Span<UInt8>) -> Bool {
        for index in text where !bytes[index].isHexDigit || bytes[index].lowercasedASCII != bytes[index] {
            return false
        }
        return true
    }

    /// Converts a hash to lower case in place; nil if it contains anything but hexadecimal digits.
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
