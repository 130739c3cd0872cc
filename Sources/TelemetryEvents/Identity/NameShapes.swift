// SPDX-License-Identifier: Apache-2.0

/// The shape of an app's or a system's version (docs/security.md#privacy): a number such as `1.4.2`, with a build in
/// parentheses or behind a sign, and words that versions are made of, such as `beta` or `Android`.
///
/// One pass over the bytes, without allocation.
struct VersionShape {
    private static let longest = 64
    private static let mostPieces = 12

    private static let words = WordSet(
        "ios ipados iphone macos watchos tvos visionos android harmonyos fireos wearos version build api sdk level "
            + "release debug beta alpha rc dev snapshot nightly preview canary pre prerelease test testflight staging "
            + "prod production internal qa hotfix patch final ga update os local ci adhoc store playstore appstore "
            + "lite pro free demo main master develop simulator rev sha service pack upsidedowncake tiramisu "
            + "vanillaicecream baklava sp"
    )

    private var cursor: ShapeCursor
    private var pieces = 0
    private var hasNumber = false
    private var hasBuild = false
    private var parentheses = 0

    private init(_ range: Range<Int>) {
        cursor = ShapeCursor(range)
    }

    static func matches(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard 1...longest ~= range.count else { return false }
        var shape = VersionShape(range)
        return shape.matches(bytes)
    }

    private mutating func matches(_ bytes: Span<UInt8>) -> Bool {
        if cursor.byte(bytes) | 0x20 == UInt8(ascii: "v"), TextClass.isDigit(cursor.byte(bytes, ahead: 1)) {
            cursor.position += 1
        }
        var separator = UInt8(ascii: " ")
        var follows = Piece.start
        while true {
            guard pieces < Self.mostPieces, let piece = piece(bytes, behind: separator, follows) else { return false }
            follows = piece
            pieces += 1
            while cursor.byte(bytes) == UInt8(ascii: ")") {
                parentheses -= 1
                cursor.position += 1
            }
            guard 0...1 ~= parentheses else { return false }
            if cursor.isAtEnd { return hasNumber && parentheses == 0 }
            separator = cursor.byte(bytes)
            cursor.position += 1
            switch separator {
            case UInt8(ascii: " "), UInt8(ascii: ","):
                while cursor.byte(bytes) == UInt8(ascii: " ") { cursor.position += 1 }
                if cursor.byte(bytes) == UInt8(ascii: "/") {
                    cursor.position += 1
                    while cursor.byte(bytes) == UInt8(ascii: " ") { cursor.position += 1 }
                }
                if cursor.byte(bytes) == UInt8(ascii: "(") {
                    separator = UInt8(ascii: "(")
                    cursor.position += 1
                    parentheses += 1
                }
            case UInt8(ascii: "("): parentheses += 1
            case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "_"): break
            default: return false
            }
        }
    }

    private enum Piece {
        case start
        case word
        case core
        case build
    }

    /// Consumes letters and digits, or a dotted number.
    private mutating func piece(_ bytes: Span<UInt8>, behind separator: UInt8, _ previous: Piece) -> Piece? {
        let length = cursor.lettersAndDigits(bytes)
        guard length > 0 else { return nil }
        let digits = cursor.digits(bytes)
        if digits == length {
            hasNumber = true
            if previous == .start || previous == .word { return core(bytes) }
            return build(bytes, digits, behind: separator)
        }
        defer { cursor.position += length }
        if digits == 0 { return word(bytes, length) }
        return isBuildName(bytes, digits, length) ? .build : nil
    }

    /// The number of a version: at most four components, five where the second is 0.
    private mutating func core(_ bytes: Span<UInt8>) -> Piece? {
        var components = 0
        var digits = 0
        var longComponents = 0
        var hasZero = false
        var hasLeadingZero = false
        let first = cursor.digits(bytes)
        let isYear = first == 4 && 2_000..<2_100 ~= cursor.value(bytes, digits: 4)
        let date = cursor.lengthOfDate(bytes)
        if date == 10 {
            cursor.position += 10
            return .core
        }
        if first > 6 {
            guard cursor.isCompactDate(bytes, digits: first), first <= 12 else { return nil }
            cursor.position += first
            return .core
        }
        while true {
            let count = cursor.digits(bytes)
            guard 1...6 ~= count else { return nil }
            if bytes[cursor.position] == UInt8(ascii: "0") {
                if count > 1 { hasLeadingZero = true } else if components == 1 { hasZero = true }
                if count > 1, components == 0 { return nil }
            }
            digits += count
            if count >= 3 { longComponents += 1 }
            components += 1
            cursor.position += count
            guard cursor.byte(bytes) == UInt8(ascii: "."), TextClass.isDigit(cursor.byte(bytes, ahead: 1)) else {
                break
            }
            cursor.position += 1
        }
        guard !TextClass.isLetterOrDigit(cursor.byte(bytes)) else { return nil }
        if components == 2, longComponents == 2, !isYear { return nil }
        if hasZero, !hasLeadingZero { return components <= 5 && digits <= 12 ? .core : nil }
        return components <= 4 && digits <= (isYear ? 10 : components == 3 ? 8 : 7) ? .core : nil
    }

    /// The number of a build: up to six digits, a date or a time since 1970.
    private mutating func build(_ bytes: Span<UInt8>, _ digits: Int, behind separator: UInt8) -> Piece? {
        guard !hasBuild, separator != UInt8(ascii: " "), separator != UInt8(ascii: ",") else { return nil }
        hasBuild = true
        guard
            digits <= 6
                ? digits == 1 || bytes[cursor.position] != UInt8(ascii: "0")
                : cursor.isCompactDate(bytes, digits: digits) || cursor.isEpoch(bytes, digits: digits)
        else { return nil }
        cursor.position += digits
        return .build
    }

    private func word(_ bytes: Span<UInt8>, _ length: Int) -> Piece? {
        let letters = cursor.letters(bytes)
        let word = cursor.position..<cursor.position + letters
        // A single letter is a name of Android's, `v` before a number, or a kind of build.
        guard letters == 1 || Self.words.contains(bytes, word) else { return hashName(bytes, length) }
        guard letters < length else { return .word }
        let digits = cursor.digits(bytes, from: letters)
        return digits == length - letters && digits <= 4 ? .build : hashName(bytes, length)
    }

    /// A build's name that begins with digits: `21A360` as Apple's are, or a short hash.
    private func isBuildName(_ bytes: Span<UInt8>, _ digits: Int, _ length: Int) -> Bool {
        if digits <= 2, length <= 8, TextClass.isUpper(cursor.byte(bytes, ahead: digits)) {
            let number = cursor.digits(bytes, from: digits + 1)
            let rest = length - digits - 1 - number
            if 1...5 ~= number, rest == 0 || rest == 1 && TextClass.isLower(cursor.byte(bytes, ahead: length - 1)) {
                return true
            }
        }
        return hashName(bytes, length) != nil
    }

    /// A commit's short hash: 7 to 12 lower-case hexadecimal digits of both kinds, perhaps behind a `g`, behind a number.
    private func hashName(_ bytes: Span<UInt8>, _ length: Int) -> Piece? {
        let isMarked = cursor.byte(bytes) == UInt8(ascii: "g")
        guard hasNumber, 7...12 ~= length - (isMarked ? 1 : 0) else { return nil }
        var digits = 0
        for offset in (isMarked ? 1 : 0)..<length {
            let byte = bytes[cursor.position + offset]
            guard byte.isHexDigit, !TextClass.isUpper(byte) else { return nil }
            if TextClass.isDigit(byte) { digits += 1 }
        }
        return 1...9 ~= digits && digits < length ? .build : nil
    }
}

/// The shape of a device's model: the names and codes of manufacturers, never one that a user gave.
struct ModelShape {
    private static let longest = 64
    private static let mostDigits = 8

    private static let makers = WordSet(
        "iphone ipad ipod watch mac macbook macbookpro macbookair macmini macpro imac imacpro appletv realitydevice "
            + "audioaccessory homepod vision arm x86 amd intel simulator emulator sdk android gphone aosp pixel nexus "
            + "galaxy samsung redmi poco xiaomi moto motorola nokia oneplus huawei honor oppo vivo realme sony xperia "
            + "lg asus zenfone rog lenovo fairphone nothing google htc tecno infinix zte blackview doogee cubot ulefone "
            + "kindle fire meizu sharp aquos fujitsu kyocera alcatel tcl wiko hisense cat itel lava micromax chromebook"
    )
    private static let words = WordSet(
        "pro max plus ultra mini note lite fe se air fold flip edge neo prime power play stylus xl gt generation gen "
            + "cellular wifi lte inch phone tab tablet one zoom fusion active duos zero hot spark smart find reno nord "
            + "mate nova magic ace turbo go core built for apple mobile series device model mi sm a c e f g i k m n p "
            + "r s t v x y z"
    )

    static func matches(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard 1...longest ~= range.count else { return false }
        var cursor = ShapeCursor(range)
        var digits = 0
        var hasMaker = false
        var hasCode = false
        while true {
            let length = cursor.lettersAndDigits(bytes)
            guard length > 0 else { return false }
            let piece = cursor.position..<cursor.position + length
            for index in piece where TextClass.isDigit(bytes[index]) { digits += 1 }
            guard digits <= mostDigits else { return false }
            switch kind(of: piece, cursor, bytes) {
            case .maker: hasMaker = true
            case .code where !hasCode: hasCode = true
            case .word: break
            default: return false
            }
            cursor.position += length
            if !skipSeparators(&cursor, bytes) { return false }
            if cursor.isAtEnd { return hasMaker || hasCode }
        }
    }

    private enum Kind {
        case maker
        case code
        case word
        case other
    }

    private static func kind(of piece: Range<Int>, _ cursor: ShapeCursor, _ bytes: Span<UInt8>) -> Kind {
        let letters = cursor.letters(bytes)
        let name = piece.lowerBound..<piece.lowerBound + letters
        let digits = cursor.digits(bytes, from: letters)
        if letters == piece.count {
            if makers.contains(bytes, name) { return .maker }
            return words.contains(bytes, name) || letters <= 3 && isUpper(bytes, piece) ? .word : .other
        }
        if letters > 0, letters + digits == piece.count, digits <= 4, makers.contains(bytes, name) { return .maker }
        if bytes.equals("x86", in: piece) || bytes.equals("i386", in: piece) { return .maker }
        if piece.count <= 10, piece.count >= 4, isUpper(bytes, piece), letters > 0 || digits < piece.count {
            return .code
        }
        // Numbers and short pieces of the kind of `8`, `7a`, `5G` and `S23`.
        if piece.count <= 4 { return .word }
        return .other
    }

    private static func isUpper(_ bytes: Span<UInt8>, _ piece: Range<Int>) -> Bool {
        for index in piece where TextClass.isLower(bytes[index]) { return false }
        return true
    }

    private static func skipSeparators(_ cursor: inout ShapeCursor, _ bytes: Span<UInt8>) -> Bool {
        let start = cursor.position
        while !cursor.isAtEnd {
            switch bytes[cursor.position] {
            case UInt8(ascii: " "), UInt8(ascii: ","), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                cursor.position += 1
            default: return cursor.position > start && cursor.position - start <= 2
            }
        }
        return cursor.position - start <= 2
    }
}

/// The shape of a platform: one of the known names.
enum PlatformShape {
    private static let names = WordSet(
        "ios ipados macos watchos tvos visionos android web linux windows harmonyos fireos wearos catalyst maccatalyst "
            + "electron capacitor simulator other unknown"
    )

    static func matches(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        // Nearly all are one of the first two.
        if bytes.equalsIgnoringCase("ios", in: range) || bytes.equalsIgnoringCase("android", in: range) { return true }
        return range.count <= 16 && (names.contains(bytes, range) || bytes.equalsIgnoringCase("iphone os", in: range))
    }
}
