// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Foundation
package import LogInput
internal import PeerNames
internal import TextOutput

/// Where a collector is asked: `http://HOST:PORT`, `https://HOST:PORT`, either with a path, or `unix:/PATH/OF/SOCKET`,
/// `https+unix:/PATH/OF/SOCKET` with TLS.
package struct CollectorURL: Hashable, Sendable, CustomStringConvertible {
    /// The longest path of a Unix socket (unix(7), `sun_path` without its end).
    static let longestSocketPath = 107

    /// The URL as it is requested.
    let request: String
    /// The host; nil for a socket.
    let host: String?
    /// Whether the connection is encrypted.
    let isEncrypted: Bool
    /// Whether what is sent leaves the machine.
    package let isRemote: Bool
    /// As it is shown.
    package let description: String

    /// - Parameters:
    ///   - text: the URL.
    ///   - path: what is asked for where the URL names no path.
    package init(_ text: String, path: String = "/v1/events") throws(InvalidOption) {
        for (scheme, isEncrypted) in [("unix:", false), ("https+unix:", true)] where text.hasPrefix(scheme) {
            self = try Self(socket: String(text.dropFirst(scheme.count)), isEncrypted: isEncrypted, path: path)
            return
        }
        self = try Self(web: text, path: path)
    }

    /// The URL as it is requested of a host under another name; itself for a socket.
    func request(named name: String) -> String {
        guard host != nil, var parts = URLComponents(string: request) else { return request }
        parts.host = name
        return parts.string ?? request
    }

    private init(web text: String, path: String) throws(InvalidOption) {
        guard var parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = parts.host, !host.isEmpty,
            (1...65_535).contains(parts.port ?? 80)
        else { throw Self.unknown(text) }
        guard parts.user == nil, parts.password == nil else {
            throw InvalidOption(
                "expected a URL without a name or password; use --basic-auth-file, others see arguments"
            )
        }
        guard parts.query == nil, parts.fragment == nil else {
            throw InvalidOption("expected a URL without ? and #, found \"\(PlainText.line(text))\"")
        }
        if parts.path.isEmpty || parts.path == "/" { parts.path = path }
        guard let url = parts.string else { throw Self.unknown(text) }
        request = url
        description = url
        isEncrypted = scheme == "https"
        self.host = host.trimmingCharacters(in: ["[", "]"])
        isRemote = !LocalHost.isLoopback(host)
    }

    private init(socket: String, isEncrypted: Bool, path: String) throws(InvalidOption) {
        let socket = "/" + socket.drop { $0 == "/" }
        guard socket.count > 1, socket.utf8.count <= Self.longestSocketPath,
            let url = isEncrypted
                ? URL(httpsURLWithSocketPath: socket, uri: path) : URL(httpURLWithSocketPath: socket, uri: path)
        else {
            throw InvalidOption(
                "expected unix: and a path of at most \(Self.longestSocketPath) bytes, found \"\(PlainText.line(socket))\""
            )
        }
        request = url.absoluteString
        description = (isEncrypted ? "https+unix:" : "unix:") + socket
        self.isEncrypted = isEncrypted
        host = nil
        isRemote = false
    }

    private static func unknown(_ text: String) -> InvalidOption {
        InvalidOption(
            "expected a URL as http://127.0.0.1:10910, https://host, unix:/run/dnp-telemetry/http.sock or "
                + "https+unix:/run/dnp-telemetry/http.sock, found \"\(PlainText.line(text))\""
        )
    }
}
