// SPDX-License-Identifier: Apache-2.0

/// The texts of the event being decoded, each in the shape that its field must have (docs/security.md#privacy).
///
/// | text | what leaves the decoder |
/// | --- | --- |
/// | schedule id, event id | unchanged if plain (`IdentifierShape`); else `redacted-h` and a keyed hash |
/// | error | its domain and code, or its leading identifier; never a sentence |
/// | versions, model | unchanged if of their shape (`VersionShape`, `ModelShape`); else nothing |
/// | platform | a known one; else `other` |
/// | hashes | MD5 in lower case; of others `h` and 42 bits, enough to compare them |
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

    /// Appends an identifier in its shape.
    mutating func append(_ identifier: [UInt8]) -> Event.Text {
        let start = bytes.count
        bytes.append(contentsOf: identifier)
        return start..<bytes.count
    }

    /// Appends two words, little-endian.
    mutating func append(littleEndian first: UInt64, _ second: UInt64) -> Event.Text {
        let start = bytes.count
        for word in [first, second] {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return start..<bytes.count
    }

    mutating func append(_ counter: ClientCounter, _ value: UInt64) {
        ClientStateRecord.append(counter, value, to: &bytes)
    }

    /// Appends a number of the rolling window.
    mutating func append(_ count: RollingCount, _ value: UInt64) -> Event.Text {
        let start = bytes.count
        ClientStateRecord.append(count, value, to: &bytes)
        return start..<bytes.count
    }

    /// Whether an identifier leaves the decoder unchanged: it is plain, or a pseudonym that a collector made.
    @inline(__always)
    static func isPlain(_ text: Event.Text, in bytes: Span<UInt8>) -> Bool {
        IdentifierShape.isPlain(bytes, text) || isPseudonym(text, in: bytes)
    }

    /// The form of a pseudonym: `redacted-h` and 16 hexadecimal digits.
    static func isPseudonym(_ text: Event.Text, in bytes: Span<UInt8>) -> Bool {
        guard text.count == 26, bytes.equals("redacted-h", in: text.prefix(10)) else { return false }
        return isLowercaseHex(text.dropFirst(10), in: bytes)
    }

    /// The pseudonym of an identifier.
    mutating func pseudonym(of text: Event.Text, _ pseudonyms: any Pseudonymising) -> Event.Text {
        let pseudonym = pseudonyms.pseudonym(of: bytes.span.extracting(text))
        let start = bytes.count
        bytes.append("redacted-h")
        bytes.appendHex(pseudonym.high)
        return start..<bytes.count
    }

    /// The error's domain and code, or its leading identifier; empty for anything else, such as a sentence.
    mutating func errorIdentifier(_ text: Event.Text) -> Event.Text {
        if let domain = value(of: "Domain=", in: text) {
            guard IdentifierShape.isErrorName(bytes.span, domain) else { return 0..<0 }
            let code = value(of: "Code=", in: text).flatMap { isNumber($0) ? $0 : nil }
            return append(domain: domain, code: code)
        }
        if let (domain, code) = described(in: text) { return append(domain: domain, code: code) }
        var start = text.lowerBound
        while start < text.upperBound, bytes[start] == UInt8(ascii: " ") { start += 1 }
        // A line's parenthesis may have it behind its key.
        if start + 6 <= text.upperBound, bytes.span.equals("error=", in: start..<start + 6) { start += 6 }
        if isNumber(start..<text.upperBound) { return start..<text.upperBound }
        let name = start..<endOfName(from: start, in: text)
        guard IdentifierShape.isErrorName(bytes.span, name) else { return 0..<0 }
        if let code = value(of: " Code=", in: text), code.lowerBound == name.upperBound + 6, isNumber(code) {
            return name.lowerBound..<code.upperBound
        }
        if name.upperBound == text.upperBound { return name }
        return endsName(bytes[name.upperBound]) && isCode(name) ? name : 0..<0
    }

    private mutating func append(domain: Range<Int>, code: Range<Int>?) -> Event.Text {
        let start = bytes.count
        for index in domain { bytes.append(bytes[index]) }
        if let code {
            bytes.append(" Code=")
            for index in code { bytes.append(bytes[index]) }
        }
        return start..<bytes.count
    }

    /// The domain and the code of an error as Foundation describes it: `(NSURLErrorDomain error -1009.)` behind a sentence.
    private func described(in text: Event.Text) -> (domain: Range<Int>, code: Range<Int>)? {
        let word = " error " as StaticString
        for opening in text where bytes[opening] == UInt8(ascii: "(") {
            let domain = opening + 1..<endOfName(from: opening + 1, in: text)
            let start = domain.upperBound + word.utf8CodeUnitCount
            guard start < text.upperBound, bytes.span.equals(word, in: domain.upperBound..<start),
                IdentifierShape.isErrorName(bytes.span, domain)
            else { continue }
            var end = start
            while end < text.upperBound, bytes[end] == UInt8(ascii: "-") || TextClass.isDigit(bytes[end]) { end += 1 }
            if isNumber(start..<end) { return (domain, start..<end) }
        }
        return nil
    }

    /// Whether text behind a name is a sentence or a list, and not the rest of a word or a value.
    private func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "("),
            UInt8(ascii: "["):
            true
        default: false
        }
    }

    /// Whether a word looks like an error's name rather than prose: it contains an underscore, two dots, or an inner
    /// capital beside small letters.
    private func isCode(_ word: Range<Int>) -> Bool {
        var dots = 0
        var hasInnerCapital = false
        var hasLower = false
        for index in word {
            if bytes[index] == UInt8(ascii: "_") { return true }
            if bytes[index] == UInt8(ascii: ".") { dots += 1 }
            if TextClass.isLower(bytes[index]) { hasLower = true }
            guard index > word.lowerBound, TextClass.isUpper(bytes[index]) else { continue }
            if TextClass.isLetter(bytes[index - 1]) { hasInnerCapital = true }
        }
        return dots >= 2 || hasInnerCapital && hasLower
    }

    /// Whether it is the number of an error, up to six digits with a sign.
    private func isNumber(_ text: Range<Int>) -> Bool {
        let digits = text.first.map { bytes[$0] } == UInt8(ascii: "-") ? text.dropFirst() : text
        return 1...6 ~= digits.count && digits.allSatisfy { TextClass.isDigit(bytes[$0]) }
    }

    /// Whether a hash has the length of MD5, SHA-1 or SHA-2.
    static func hasLengthOfHash(_ text: Event.Text) -> Bool {
        switch text.count {
        case 32, 40, 56, 64, 96, 128: true
        default: false
        }
    }

    /// The form of a fingerprint in the place of its hash.
    static func isFingerprint(_ text: Event.Text, in bytes: Span<UInt8>) -> Bool {
        text.count == 12 && bytes[text.lowerBound] == UInt8(ascii: "h") && isLowercaseHex(text.dropFirst(), in: bytes)
    }

    /// Whether a hash is already in the form that `shaped(hash:)` gives the plugin's own.
    static func isLowercaseMD5(_ text: Event.Text, in bytes: Span<UInt8>) -> Bool {
        text.count == 32 && isLowercaseHex(text, in: bytes)
    }

    /// Converts hexadecimal digits to lower case in place; false if there is anything else.
    mutating func lowercaseHex(_ text: Event.Text) -> Bool {
        for index in text {
            guard bytes[index].isHexDigit else { return false }
            bytes[index] = bytes[index].lowercasedASCII
        }
        return true
    }

    /// A hash in the form that leaves the decoder: MD5, the plugin's own, as it is, and of a longer one its fingerprint
    /// behind an `h`, since a device's push token has the length of SHA-256. Digits of another length may be few enough to
    /// be guessed, so their fingerprint is keyed.
    mutating func shaped(hash: Event.Text, _ key: IdentityKey) -> Event.Text {
        if hash.count == 32 { return hash }
        let value =
            Self.hasLengthOfHash(hash)
            ? HashFingerprint(hash, in: bytes.span).value
            : key.text(bytes.span, hash) % HashFingerprint.values
        let start = bytes.count
        bytes.append(UInt8(ascii: "h"))
        bytes.appendHex(value)
        // 42 bits are the last 11 digits.
        bytes.removeSubrange(start + 1..<start + 6)
        return start..<bytes.count
    }

    /// The text that stands for a platform that is not known.
    mutating func otherPlatform() -> Event.Text {
        appended("other")
    }

    private static func isLowercaseHex(_ text: Range<Int>, in bytes: Span<UInt8>) -> Bool {
        for index in text where !bytes[index].isHexDigit || TextClass.isUpper(bytes[index]) { return false }
        return true
    }

    private static let longestName = 64

    private func endOfName(from start: Int, in text: Event.Text) -> Int {
        var index = start
        while index < text.upperBound, index - start <= Self.longestName {
            switch bytes[index] {
            case UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "$"), UInt8(ascii: "/"): break
            default: guard TextClass.isLetterOrDigit(bytes[index]) else { return index }
            }
            index += 1
        }
        return index
    }

    private func value(of key: StaticString, in text: Event.Text) -> Range<Int>? {
        let length = key.utf8CodeUnitCount
        var start = text.lowerBound
        while start + length < text.upperBound {
            if bytes.span.equals(key, in: start..<start + length) {
                let end = endOfName(from: start + length, in: text)
                return end > start + length ? start + length..<end : nil
            }
            start += 1
        }
        return nil
    }

    /// Appends a text of the program's own.
    mutating func appended(_ text: StaticString) -> Event.Text {
        let start = bytes.count
        bytes.append(text)
        return start..<bytes.count
    }
}

/// What is kept of a hash: 42 bits of FNV-1a over its digits, ignoring letter case. It tells two hashes apart, and no
/// hash, or token in a hash's place, can be read from it.
public struct HashFingerprint: Sendable {
    /// How many values a fingerprint can have.
    public static let values: UInt64 = 1 << 42
    /// The fingerprint, below `values`.
    public let value: UInt64

    /// The fingerprint of a hash, or the one that stands in its place already.
    public init(_ hash: Event.Text, in bytes: Span<UInt8>) {
        if EventTexts.isFingerprint(hash, in: bytes) {
            var value: UInt64 = 0
            for index in hash.dropFirst() { value = value << 4 | UInt64(bytes[index].hexValue) }
            self.value = value % Self.values
            return
        }
        var code: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in hash { code = (code ^ UInt64(bytes[index] | 0x20)) &* 0x100_0000_01B3 }
        value = (code ^ code >> 42) % Self.values
    }
}

extension UInt8 {
    /// The value of a lower-case hexadecimal digit.
    fileprivate var hexValue: UInt8 { isDigit ? self - 0x30 : self - 0x57 }
}
