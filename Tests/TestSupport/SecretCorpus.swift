// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Three hundred texts of the shapes that secrets and personal data have, drawn from a seed: none is anybody's.
package enum SecretCorpus {
    /// A secret as it is sent, and the parts that must not be found again.
    package struct Secret: Sendable, CustomStringConvertible {
        package let kind: String
        package let text: String
        /// The text, and the token in it where it has a frame such as `Bearer`.
        package let parts: [String]

        package var description: String { "\(kind): \(text)" }

        /// Whether any of it stands in the bytes, as it was sent or in lower case.
        package func isFound(in bytes: Data) -> Bool {
            parts.contains { part in
                bytes.range(of: Data(part.utf8)) != nil || bytes.range(of: Data(part.lowercased().utf8)) != nil
            }
        }
    }

    /// The texts of which any stands in the bytes, found by one pass of grep over all of them.
    package static func found(in bytes: Data) throws -> Set<String> {
        let texts = Set(all.flatMap { $0.parts.flatMap { [$0, $0.lowercased()] } })
        let directory = try TemporaryDirectory()
        try Files.write(Array(texts.sorted().joined(separator: "\n").utf8), to: directory.file("texts"))
        // grep ends with 1 where it finds nothing.
        let search = #"LC_ALL=C grep --text --only-matching --fixed-strings --file="$1" || [ $? = 1 ]"#
        let output = try Program.run("/bin/sh", ["-c", search, "sh", directory.file("texts")], input: Array(bytes))
        return Set(String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    package static let seed: UInt64 = 15
    package static let all: [Secret] = {
        var maker = SecretMaker(seed: seed)
        maker.makeKeys()
        maker.makeCredentials()
        maker.makeNumbers()
        maker.makeAddresses()
        maker.makeNames()
        return maker.secrets
    }()
}

private struct SecretMaker {
    private static let lower = Array("abcdefghijklmnopqrstuvwxyz")
    private static let upper = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    private static let digits = Array("0123456789")
    private static let hex = Array("0123456789abcdef")
    private static let base62 = lower + upper + digits
    private static let base32 = upper + Array("234567")
    private static let base58 = base62.filter { !"0OIl".contains($0) }

    private var random: SplitMix64
    private(set) var secrets: [SecretCorpus.Secret] = []

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    private mutating func some(_ count: Int, of characters: [Character]) -> String {
        String((0..<count).map { _ in characters[Int(random.next() % UInt64(characters.count))] })
    }

    /// Letters and digits, with a digit in the midst of them as all but few tokens have.
    private mutating func token(_ count: Int, of characters: [Character] = base62) -> String {
        let half = some(count / 2, of: characters)
        return half + some(1, of: Self.digits) + some(count - count / 2 - 1, of: characters)
    }

    private mutating func add(_ kind: String, _ text: String, _ parts: String...) {
        secrets.append(SecretCorpus.Secret(kind: kind, text: text, parts: [text] + parts))
    }

    /// API keys of 34 vendors, three of each. Prefixes are put together, so that no scanner takes this file for a leak.
    mutating func makeKeys() {
        for _ in 0..<3 {
            add("OpenAI", "sk" + "-" + token(48))
            add("Anthropic", "sk" + "-ant-api03-" + token(40))
            add("Stripe", "sk" + "_live_" + token(24))
            add("Stripe, restricted", "rk" + "_live_" + token(24))
            add("AWS, id", "AK" + "IA" + token(16, of: Self.base32))
            add("AWS, secret", token(20) + "/" + token(19))
            add("GitHub", "gh" + "p_" + token(36))
            add("GitHub, fine-grained", "github" + "_pat_" + token(22) + "_" + token(59))
            add("GitLab", "gl" + "pat-" + token(20))
            add("Slack, bot", "xo" + "xb-" + some(12, of: Self.digits) + "-" + token(24))
            add("Slack, user", "xo" + "xp-" + some(11, of: Self.digits) + "-" + token(24))
            add("Slack, hook", "T" + token(8, of: Self.base32) + "/B" + token(8, of: Self.base32) + "/" + token(24))
            add("Google", "AI" + "za" + token(35))
            add("Google, client", "GOC" + "SPX-" + token(28))
            add("Google, access", "ya" + "29." + token(60))
            add("FCM", token(22) + ":APA" + "91b" + token(134))
            add("APNs", token(64, of: Self.hex))
            add("APNs, upper case", token(64, of: Self.hex).uppercased())
            add("SendGrid", "S" + "G." + token(22) + "." + token(43))
            add("Mailgun", "key" + "-" + token(32, of: Self.hex))
            add("Twilio", "S" + "K" + token(32, of: Self.hex))
            add("npm", "np" + "m_" + token(36))
            add("PyPI", "py" + "pi-AgEI" + token(60))
            add("DigitalOcean", "do" + "p_v1_" + token(64, of: Self.hex))
            add("Shopify", "sh" + "pat_" + token(32, of: Self.hex))
            add("Hugging Face", "h" + "f_" + token(34))
            add("Facebook", "EA" + "AC" + token(60))
            add("Telegram", some(10, of: Self.digits) + ":" + token(35))
            add("Discord", "M" + token(23) + "." + token(6) + "." + token(27))
            add("JWT", "ey" + "J" + token(20) + ".ey" + "J" + token(30) + "." + token(43))
            add("Azure", "sv=2022-11-02&si" + "g=" + token(43) + "%3D")
            add("Okta", "00" + token(40))
            add("age", "AGE-SECRET" + "-KEY-1" + token(58, of: Self.base32))
            add("TOTP", token(32, of: Self.base32))
        }
    }

    /// Credentials in the frames that people paste.
    mutating func makeCredentials() {
        let frames: [(String, String)] = [
            ("Basic ", "="), ("basic\t", "=="), ("BASIC%20", ""), ("Authorization: Basic ", "="),
            ("Bearer ", ""), ("bearer ", ""), ("BEARER ", ""), ("Bearer\t", ""), ("Bearer:", ""), ("Bearer: ", ""),
            ("Bearer%20", ""), ("Bearer=", ""), ("Bearer_", ""), ("Bearer", ""), ("Authorization: Bearer ", ""),
            ("Token token=", ""), ("access_token=", ""), ("?access_token=", "&x=1"), ("refresh_token=", ""),
            ("id_token=", ""), ("password=", ""), ("passwd:", ""), ("pwd=", ";"), ("client_secret=", ""),
            ("api_key=", ""), ("apikey:", ""), ("X-Api-Key: ", ""), ("secret=", ""), ("\"token\":\"", "\""),
            ("https://user:", "@host"),
        ]
        for _ in 0..<2 {
            for (before, behind) in frames {
                let token = token(28)
                add("credential \(before)", before + token + behind, token)
            }
        }
    }

    /// Telephone numbers, card numbers and account numbers.
    mutating func makeNumbers() {
        func filled(_ form: String, _ random: inout SplitMix64) -> String {
            String(form.map { $0 == "#" ? Self.digits[Int(2 + random.next() % 8)] : $0 })
        }
        let phones = [
            "+49 171 #######", "0049171#######", "0171 #######", "0171/#######", "06 12 ## ## ##", "06.12.##.##.##",
            "020 7946 0###", "02079460###", "98765 #####", "415555####", "(415) 555-####", "415-555-####",
            "415.555.####", "1-415-555-####", "+1.415.555.####", "tel:+1415555####", "00 44 20 7946 ####",
            "090-####-####", "+86 138 #### ####", "8 (912) ###-##-##", "0#-####-####", "+4179#######", "07### ######",
            "415_555_####", "415·555·####", "415\u{2010}555\u{2010}####", "415\u{00A0}555\u{00A0}####",
            "daily-415555####", "daily-0171#######", "notif-0049171#######", "daily-0#######", "schedule-00#######",
            "event_06########", "0#######", "00#######",
        ]
        for form in phones {
            for _ in 0..<2 { add("telephone", filled(form, &random)) }
        }
        let scripts = [("full-width", 0xFF10), ("Arabic", 0x0660), ("Persian", 0x06F0), ("Devanagari", 0x0966)]
        for (kind, zero) in scripts {
            for form in ["0171#######", "+1415555####"] {
                let number = filled(form, &random)
                let scalars = number.unicodeScalars.map { scalar in
                    scalar.properties.numericType == nil
                        ? scalar : Unicode.Scalar(UInt32(zero) + scalar.value - 0x30) ?? scalar
                }
                add("\(kind) digits", String(String.UnicodeScalarView(scalars)))
            }
        }
        for form in ["4### #### #### ####", "5###-####-####-####", "4###############", "37## ###### #####"] {
            for _ in 0..<2 { add("card", filled(form, &random)) }
        }
        for form in [
            "DE## #### #### #### #### ##", "GB##NWBK##############", "FR##20041010050500013M026##",
            "CH##00762###########",
        ] {
            for _ in 0..<2 { add("IBAN", filled(form, &random)) }
        }
    }

    /// Identifiers and addresses of people.
    mutating func makeAddresses() {
        let people = [
            "did:plc:", "did:web:", "did:key:z", "did:ethr:0x", "did:ion:", "did:3:", "did:pkh:eip155:1:0x",
            "DID:Example:",
        ]
        for method in people { add("DID", method + token(24, of: Self.lower + Array("234567"))) }
        for method in people.prefix(4) {
            let id = token(24, of: Self.base58)
            add("DID, encoded", method.replacingColons("%3A") + id, id)
        }
        for _ in 0..<4 {
            add("account", "0" + "x" + token(40, of: Self.hex))
            add("account, mixed case", "0" + "X" + token(40, of: Self.hex).uppercased())
        }
        for _ in 0..<3 {
            let name = some(6, of: Self.lower)
            add("e-mail", name + ".doe@example.org")
            add("e-mail, encoded", name + ".doe%40example.org")
            add("e-mail, full-width", name + ".doe\u{FF20}example.org")
            add("e-mail, small", name + ".doe\u{FE6B}example.org")
        }
    }

    /// Names as they stand in versions and models.
    mutating func makeNames() {
        for text in ["1.4.2 (Jane Miller)", "Jane Millers iPhone", "1.0-jane.miller@home", "build of Jane Miller"] {
            add("name", text)
        }
        while secrets.count < 300 {
            let name = some(7, of: Self.lower)
            add("name", "1.2 (\(name) \(some(8, of: Self.lower)))", name)
        }
    }
}

extension String {
    fileprivate func replacingColons(_ text: String) -> String {
        split(separator: ":", omittingEmptySubsequences: false).joined(separator: text)
    }
}
