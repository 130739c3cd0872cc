// SPDX-License-Identifier: Apache-2.0

/// The shapes of identifiers and error names that are kept as they were sent (docs/security.md#privacy).
///
/// An identifier is words and numbers between single `-`, `_` or `.`: a UUID, a date or a time, a number of up to six
/// digits without the zeros that fill it up, a longer one behind a word of the plugin's, and words of letters as people
/// write them. What is longer, mixes letters and digits at will or holds another character may be anything: a token, a
/// telephone number, an address.
///
/// One pass over the bytes, without allocation.
struct IdentifierShape {
    /// What the text names, which decides what it may hold.
    private enum Subject {
        case identifier
        case error
    }

    private static let longest = 64
    private static let mostParts = 10
    /// The most digits besides dates, times and numbers behind a word of the plugin's.
    private static let mostDigits = 6
    private static let longestNumber = 9
    /// The most letters without a change from lower to upper case.
    private static let longestWord = 15
    private static let longestMixedWord = 14
    /// The most letters and digits in any order, such as the end of a random suffix.
    private static let longestShortMix = 8

    /// The words before a number of more than six digits: the apps' own, and what their users call such ids.
    private static let numberedWords = WordSet(
        "daily dnp notif notification schedule prefetch fetch reminder event evt cycle task content job alarm run refresh"
    )
    /// Words longer than others.
    private static let longWords = WordSet(
        "dailynotification dailynotifications backgroundrefresh backgroundfetch unauthenticated authenticationfailed"
    )

    private let subject: Subject
    private var cursor: ShapeCursor
    private var looseDigits = 0
    private var parts = 0
    /// The letters directly before the current number, or before its separator.
    private var word = 0..<0
    private var hasShortMix = false
    /// Whether there was a number of more than six digits.
    private var hasLongNumber = false
    /// Whether it was neither a date nor a time since 1970.
    private var hasLongCount = false
    private var hasDate = false
    private var hasTime = false
    private var hasColon = false

    private init(_ subject: Subject, _ range: Range<Int>) {
        self.subject = subject
        cursor = ShapeCursor(range)
    }

    /// Whether a schedule id or an event id is kept as it is.
    @inline(__always)
    static func isPlain(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        ShortIdentifier.isCommon(bytes, range) || isPlainByScanning(bytes, range)
    }

    @inline(never)
    private static func isPlainByScanning(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard 1...longest ~= range.count else { return false }
        var shape = IdentifierShape(.identifier, range)
        return shape.matches(bytes)
    }

    /// Whether a text is the name of an error: a domain, a type or a code.
    static func isErrorName(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard 1...longest ~= range.count, TextClass.isLetter(bytes[range.lowerBound]) else { return false }
        var shape = IdentifierShape(.error, range)
        return shape.matches(bytes)
    }

    private mutating func matches(_ bytes: Span<UInt8>) -> Bool {
        while true {
            guard parts < Self.mostParts, part(bytes) else { return false }
            parts += 1
            if cursor.isAtEnd { return hasFewDigits }
            guard separator(bytes) else { return false }
        }
    }

    /// Whether no telephone number hides in several parts.
    private var hasFewDigits: Bool {
        if hasLongCount { return looseDigits == 0 && !hasTime }
        return looseDigits <= (hasTime && !hasDate ? 2 : Self.mostDigits)
    }

    /// Consumes a separator; another part must follow.
    private mutating func separator(_ bytes: Span<UInt8>) -> Bool {
        switch bytes[cursor.position] {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): break
        case UInt8(ascii: ":") where subject == .identifier && !hasColon && !hasTime:
            // A colon before a word would let `did:plc:` and `password:` through.
            guard TextClass.isDigit(cursor.byte(bytes, ahead: 1)) else { return false }
            hasColon = true
        case UInt8(ascii: "/"), UInt8(ascii: "$"):
            guard subject == .error else { return false }
        default: return false
        }
        cursor.position += 1
        return !cursor.isAtEnd
    }

    private mutating func part(_ bytes: Span<UInt8>) -> Bool {
        if subject == .identifier, cursor.isUUID(bytes) {
            cursor.position += 36
            word = 0..<0
            return true
        }
        if TextClass.isDigit(bytes[cursor.position]) { return number(bytes) }
        return words(bytes)
    }

    // MARK: Numbers

    private mutating func number(_ bytes: Span<UInt8>) -> Bool {
        if subject == .identifier {
            let date = cursor.lengthOfDate(bytes)
            if date > 0 {
                hasDate = true
                return take(date, bytes)
            }
            let time = hasTime ? 0 : cursor.lengthOfTime(bytes)
            if time > 0 {
                hasTime = true
                return take(time, bytes)
            }
        }
        let digits = cursor.digits(bytes)
        if cursor.position + digits < cursor.end, TextClass.isLetter(bytes[cursor.position + digits]) {
            return numberWithUnit(bytes, digits)
        }
        let counted = countedDigits(bytes, digits)
        if counted > Self.mostDigits {
            guard isLongNumber(bytes, digits) else { return false }
        } else {
            looseDigits += counted
        }
        return looseDigits <= Self.mostDigits && take(digits, bytes)
    }

    /// The digits of a number, of a longer one without its zeros: where two or more are before at most six digits it is no
    /// telephone number. One zero begins a national number, and behind `00` of an international one come at least seven
    /// digits (ITU-T E.164).
    private func countedDigits(_ bytes: Span<UInt8>, _ digits: Int) -> Int {
        guard digits > Self.mostDigits, subject == .identifier else { return digits }
        let zeros = cursor.zeros(bytes)
        return zeros >= 2 && digits - zeros <= Self.mostDigits ? digits - zeros : digits
    }

    /// Whether a number of more than six digits is a date, a time since 1970, or a short one behind a known word.
    ///
    /// Alone only milliseconds are none of a telephone's: `1763190000` may be a German and `20261122` a Danish number.
    private mutating func isLongNumber(_ bytes: Span<UInt8>, _ digits: Int) -> Bool {
        guard subject == .identifier, !hasLongNumber, looseDigits == 0 else { return false }
        hasLongNumber = true
        if digits == 13 { return cursor.isEpoch(bytes, digits: 13) }
        guard !word.isEmpty else { return false }
        if cursor.isEpoch(bytes, digits: digits) || cursor.isCompactDate(bytes, digits: digits) { return true }
        hasLongCount = true
        return digits <= Self.longestNumber && bytes[cursor.position] != UInt8(ascii: "0")
            && Self.numberedWords.contains(bytes, word)
    }

    /// A number with letters behind it: `15m`, `2nd`; or a short mix.
    private mutating func numberWithUnit(_ bytes: Span<UInt8>, _ digits: Int) -> Bool {
        let length = cursor.lettersAndDigits(bytes)
        guard digits <= 4, length - digits <= 3, lettersOnly(bytes, from: digits, to: length) else {
            return shortMix(bytes, length)
        }
        looseDigits += digits
        return looseDigits <= Self.mostDigits && take(length, bytes)
    }

    private func lettersOnly(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Bool {
        for offset in start..<end where !TextClass.isLetter(bytes[cursor.position + offset]) { return false }
        return true
    }

    /// Advances behind a part that is no word.
    private mutating func take(_ length: Int, _ bytes: Span<UInt8>) -> Bool {
        cursor.position += length
        word = 0..<0
        return cursor.isAtEnd || !TextClass.isLetterOrDigit(bytes[cursor.position])
    }

    // MARK: Words

    /// Letters, and the number that stands directly behind them.
    private mutating func words(_ bytes: Span<UInt8>) -> Bool {
        let letters = cursor.letters(bytes)
        let run = cursor.position..<cursor.position + letters
        guard letters > 0 else { return false }
        guard run.upperBound < cursor.end, TextClass.isDigit(bytes[run.upperBound]) else {
            word = run
            cursor.position = run.upperBound
            return isWord(bytes, run)
        }
        let length = cursor.lettersAndDigits(bytes)
        let digits = cursor.digits(bytes, from: letters)
        guard letters + digits == length else { return mixed(bytes, letters, digits, length) }
        word = run
        guard isWord(bytes, run) else { return digits <= Self.mostDigits && shortMix(bytes, length) }
        cursor.position = run.upperBound
        return number(bytes)
    }

    /// A word with few digits inside, such as `Http2Error`, or a short mix.
    private mutating func mixed(_ bytes: Span<UInt8>, _ letters: Int, _ digits: Int, _ length: Int) -> Bool {
        let start = cursor.position
        guard
            length <= Self.longestMixedWord, digits <= 3, lettersOnly(bytes, from: letters + digits, to: length),
            isWord(bytes, start..<start + letters), isWord(bytes, start + letters + digits..<start + length)
        else { return shortMix(bytes, length) }
        looseDigits += digits
        return looseDigits <= Self.mostDigits && take(length, bytes)
    }

    /// Letters of one case and digits in any order, once in an identifier.
    private mutating func shortMix(_ bytes: Span<UInt8>, _ length: Int) -> Bool {
        guard subject == .identifier, length <= Self.longestShortMix, !hasShortMix else { return false }
        hasShortMix = true
        var hasLower = false
        var hasUpper = false
        for offset in 0..<length {
            let byte = bytes[cursor.position + offset]
            if TextClass.isDigit(byte) {
                looseDigits += 1
            } else if TextClass.isLower(byte) {
                hasLower = true
            } else {
                hasUpper = true
            }
        }
        return looseDigits <= Self.mostDigits && !(hasLower && hasUpper) && take(length, bytes)
    }

    /// Whether letters read like a word, a few words in camel case, or an acronym before them: the case changes rarely,
    /// and no piece is long.
    private func isWord(_ bytes: Span<UInt8>, _ run: Range<Int>) -> Bool {
        var changes = 0
        var upperRun = 0
        var piece = 0
        var longest = 0
        var previousIsLower = false
        for index in run {
            let isUpper = TextClass.isUpper(bytes[index])
            if isUpper {
                if previousIsLower {
                    changes += 1
                    piece = 0
                }
                upperRun += 1
            } else {
                if upperRun >= 2 { changes += 1 }
                upperRun = 0
            }
            piece += 1
            longest = max(longest, piece)
            previousIsLower = !isUpper
        }
        guard changes <= max(1, run.count / 4) else { return false }
        return longest <= Self.longestWord || Self.longWords.contains(bytes, run)
    }
}

/// Recognises the commonest identifiers sixteen bytes at a time: a lower-case word alone or before a number or a date, such
/// as `notif-12`, `daily-10000042` and `notif-2025-11-15`.
enum ShortIdentifier {
    /// Whether the text is one of them; false says nothing.
    @inline(__always)
    static func isCommon(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let count = range.count
        guard
            1...16 ~= count, let first = bytes.wordIfInBounds(at: range.lowerBound),
            let second = bytes.wordIfInBounds(at: range.lowerBound &+ 8)
        else { return false }
        let inside: UInt64 = 1 &<< UInt64(count) &- 1
        let lower = (letters(first) | letters(second) &<< 8) & inside
        let letters = (~lower).trailingZeroBitCount
        if letters == count { return count <= 15 }
        guard 1...12 ~= letters, isSeparator(bytes[range.lowerBound &+ letters]) else { return false }
        let start = letters &+ 1
        let numbers = ((digits(first) | digits(second) &<< 8) & inside) &>> UInt64(start)
        let length = count &- start
        if numbers == 1 &<< UInt64(length) &- 1 {
            if 1...6 ~= length { return true }
            // A longer number may be a telephone number unless a word of the plugin's is before it.
            guard 7...8 ~= length, bytes[range.lowerBound &+ start] != UInt8(ascii: "0") else { return false }
            let word = first & (1 &<< UInt64(letters &* 8) &- 1)
            return letters == 5 && (word == daily || word == notif || word == event)
        }
        return length == 10 && numbers == 0b11_0110_1111 && isDate(bytes, range.lowerBound &+ start)
    }

    private static let daily: UInt64 = 0x79_6C69_6164
    private static let notif: UInt64 = 0x66_6974_6F6E
    private static let event: UInt64 = 0x74_6E65_7665

    @inline(__always)
    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") }

    /// Whether `20yy-mm-dd` stands where the digits of a date are known to be.
    @inline(__always)
    private static func isDate(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
        func number(_ offset: Int) -> UInt8 {
            (bytes[start &+ offset] & 0xF) &* 10 &+ (bytes[start &+ offset &+ 1] & 0xF)
        }
        return bytes[start &+ 4] == UInt8(ascii: "-") && bytes[start &+ 7] == UInt8(ascii: "-") && number(0) == 20
            && 1...12 ~= number(5) && 1...31 ~= number(8)
    }

    /// A bit for each byte that is a lower-case letter.
    @inline(__always)
    private static func letters(_ word: UInt64) -> UInt64 {
        bits(word, from: UInt8(ascii: "a"), through: UInt8(ascii: "z"))
    }

    /// A bit for each byte that is a digit.
    @inline(__always)
    private static func digits(_ word: UInt64) -> UInt64 {
        bits(word, from: UInt8(ascii: "0"), through: UInt8(ascii: "9"))
    }

    @inline(__always)
    private static func bits(_ word: UInt64, from low: UInt8, through high: UInt8) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        // Below 0x80 a sum sets a byte's high bit if that byte is at least the bound, and carries into no other.
        let plain = word & ~highs
        let atLeast = plain &+ ones &* UInt64(0x80 - low)
        let above = plain &+ ones &* UInt64(0x7F - high)
        let found = atLeast & ~above & ~word & highs
        return (found &>> 7 &* 0x0102_0408_1020_4080) &>> 56
    }
}
