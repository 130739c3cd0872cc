// SPDX-License-Identifier: Apache-2.0

/// The secret that a client shows to send events (RFC 6750), with the name that limits and metrics know it by.
///
/// It has no description, so that it comes into no message.
struct BearerToken: Sendable {
    /// The lengths that a token may have, in bytes.
    static let lengths = 16...4_096
    /// The longest name in bytes.
    static let maximumName = 64

    let name: String
    let bytes: [UInt8]

    /// What is wrong with a token; nil when nothing is. Says nothing of its content.
    static func complaint(about bytes: [UInt8]) -> String? {
        if bytes.isEmpty { return "expected a token, found an empty file" }
        guard lengths.contains(bytes.count) else {
            return "expected a token of \(lengths.lowerBound) to \(lengths.upperBound) bytes, found "
                + (bytes.count < lengths.lowerBound ? "\(bytes.count)" : "more")
        }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "expected a token of visible ASCII characters in one line, found others"
        }
        return nil
    }

    /// Whether a name is made of letters, digits, `.`, `_` and `-`.
    static func isName(_ name: some StringProtocol) -> Bool {
        (1...maximumName).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
