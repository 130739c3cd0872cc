// SPDX-License-Identifier: Apache-2.0

/// The origin of a web page (RFC 6454): scheme, host and port, as browsers write it into `Origin`.
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The longest, in bytes.
    private static let maximumLength = 512
    private static let defaultPorts = ["http": "80", "https": "443"]

    private let scheme: String
    /// The host, and the port where it is not the scheme's own.
    private let authority: String

    package var description: String { "\(scheme)://\(authority)" }

    /// Nil for anything else, among them `null`, which all files and sandboxed frames have.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumLength, let mark = text.firstRange(of: "://") else { return nil }
        scheme = text[..<mark.lowerBound].lowercased()
        guard let authority = Self.authority(text[mark.upperBound...].lowercased(), of: scheme) else { return nil }
        self.authority = authority
        guard scheme.utf8.first.map({ (0x61...0x7A).contains($0) }) ?? false,
            scheme.utf8.allSatisfy({ Self.isNameByte($0) || $0 == UInt8(ascii: "+") })
        else { return nil }
    }

    /// Whether a request to a host, as `Host` names it, comes from a page of the same host and port.
    func isSame(asHost host: String?) -> Bool {
        guard let host, let other = Self.authority(host.lowercased(), of: scheme) else { return false }
        return other == authority
    }

    /// A host with its port, if that is not the scheme's own.
    private static func authority(_ text: String, of scheme: String) -> String? {
        var host = text[...]
        var port: Substring?
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        if let port {
            guard let number = UInt16(port), number > 0, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
        }
        let isAddress = host.first == "[" && host.last == "]"
        let name = isAddress ? host.dropFirst().dropLast() : host
        guard !name.isEmpty, name.utf8.allSatisfy({ isNameByte($0) || isAddress && $0 == UInt8(ascii: ":") }) else {
            return nil
        }
        guard let port, defaultPorts[scheme] != String(port) else { return String(host) }
        return "\(host):\(port)"
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension WebOrigin {
    /// Reads an origin that an operator allows.
    static func allowed(_ text: String) throws(SettingError) -> WebOrigin {
        if let origin = WebOrigin(text) { return origin }
        let expected = "an origin such as https://app.example.org or capacitor://localhost"
        switch text {
        case "*": throw SettingError("expected \(expected), found \"*\", which lets any page post; name each origin")
        case "null":
            throw SettingError("expected \(expected), found \"null\", the origin of every file and sandboxed frame")
        default:
            let hint = text.contains("/") && WebOrigin(Self.withoutPath(text)) != nil ? "; leave its path out" : ""
            throw SettingError(SettingError(expected: expected, found: text).message + hint)
        }
    }

    private static func withoutPath(_ text: String) -> String {
        text.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
    }
}
