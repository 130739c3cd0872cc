// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An address to send to: `http://HOST[:PORT][/PATH]` or `https://...`.
package struct ExportEndpoint: Sendable, Hashable, CustomStringConvertible {
    package let isEncrypted: Bool
    /// A name, or an address without brackets.
    package let host: String
    package let port: Int
    /// What is requested, percent-encoded, with its query.
    package private(set) var path: String
    private let authority: String

    /// Nil for a text that is no such address, or holds a name and password, which others could read.
    package init?(_ text: String) {
        guard text.utf8.count <= 2_048, let parts = URLComponents(string: text),
            let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = parts.host, let encodedHost = parts.percentEncodedHost, !host.isEmpty,
            Self.isHost(host), (1...65_535).contains(parts.port ?? 80), parts.user == nil, parts.password == nil,
            parts.fragment == nil
        else { return nil }
        isEncrypted = scheme == "https"
        self.host = host.trimmingCharacters(in: ["[", "]"])
        port = parts.port ?? (isEncrypted ? 443 : 80)
        authority = parts.port.map { "\(encodedHost):\($0)" } ?? encodedHost
        let path = parts.percentEncodedPath
        self.path = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// The address below this one; its query is left out.
    package func appending(_ suffix: String) -> ExportEndpoint {
        var endpoint = self
        let base = path.prefix { $0 != "?" }
        endpoint.path = (base.hasSuffix("/") ? String(base.dropLast()) : String(base)) + suffix
        return endpoint
    }

    /// Whether it has the characters of a name or an address alone: it goes into headers as it is.
    private static func isHost(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
                true
            default: ".-_:[]%".utf8.contains(byte)
            }
        }
    }

    /// The host as it stands before a port.
    var hostOfAuthority: String { host.contains(":") ? "[\(host)]" : host }

    /// The value of `Host` (RFC 9110, 7.2).
    var hostHeader: String { authority }

    /// For server name indication, which takes no address (RFC 6066, 3).
    var serverName: String? {
        let isAddress = host.contains(":") || host.split(separator: ".").last.map { Int($0) != nil } ?? true
        return isAddress ? nil : host
    }

    /// The whole address without its query, which may hold a secret.
    package var description: String { absolute(path.prefix { $0 != "?" }) }

    /// The target of a request to a proxy (RFC 9112, 3.2.2).
    var absoluteTarget: String { absolute(path[...]) }

    private func absolute(_ path: Substring) -> String { "\(isEncrypted ? "https" : "http")://\(authority)\(path)" }
}
