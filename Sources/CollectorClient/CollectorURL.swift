// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import LogInput
internal import PeerNames
internal import TextOutput

/// The address of a collector: `http://HOST:PORT`, `https://HOST:PORT`, either with a path, or `unix:/PATH/OF/SOCKET`,
/// `https+unix:/PATH/OF/SOCKET` with TLS.
package struct CollectorURL: Hashable, Sendable, CustomStringConvertible {
    /// The longest path of a Unix socket (unix(7), `sun_path` without its end).
    static let longestSocketPath = 107

    /// Where to connect.
    enum Endpoint: Hashable, Sendable {
        /// A name, or an address without brackets.
        case host(String, port: Int)
        /// The path of a Unix socket.
        case socket(String)
    }

    let endpoint: Endpoint
    /// The URL with its path; `http+unix://` or `https+unix://` with the percent-encoded path as host for a socket.
    let request: String
    /// The path to request, percent-encoded.
    let path: String
    /// Whether the connection is encrypted.
    let isEncrypted: Bool
    /// Whether what is sent leaves the machine.
    package let isRemote: Bool
    /// The form for messages.
    package let description: String

    /// - Parameters:
    ///   - text: the URL.
    ///   - path: the path for a URL without one.
    package init(_ text: String, path: String = "/v1/events") throws(InvalidOption) {
        for (scheme, isEncrypted) in [("unix:", false), ("https+unix:", true)] where text.hasPrefix(scheme) {
            self = try Self(socket: String(text.dropFirst(scheme.count)), isEncrypted: isEncrypted, path: path)
            return
        }
        self = try Self(web: text, path: path)
    }

    /// The host; nil for a socket.
    var host: String? { if case .host(let host, _) = endpoint { host } else { nil } }

    /// The value of `Host` (RFC 9110, 7.2); `localhost` for a socket.
    ///
    /// - Parameter name: stands for the host, where it is known under another name.
    func authority(named name: String?) -> String {
        guard host != nil, let parts = URLComponents(string: name.map(request(named:)) ?? request),
            let host = parts.percentEncodedHost
        else { return "localhost" }
        guard let port = parts.port, port != (isEncrypted ? 443 : 80) else { return host }
        return "\(host):\(port)"
    }

    /// The URL with another name for its host; unchanged for a socket.
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
        self.path = parts.percentEncodedPath
        isEncrypted = scheme == "https"
        endpoint = .host(
            host.trimmingCharacters(in: ["[", "]"]),
            port: parts.port ?? (isEncrypted ? 443 : 80)
        )
        isRemote = !LocalHost.isLoopback(host)
    }

    private init(socket: String, isEncrypted: Bool, path: String) throws(InvalidOption) {
        let socket = "/" + socket.drop { $0 == "/" }
        guard socket.count > 1, socket.utf8.count <= Self.longestSocketPath,
            let host = socket.addingPercentEncoding(withAllowedCharacters: .urlHostAllowed)
        else {
            throw InvalidOption(
                "expected unix: and a path of at most \(Self.longestSocketPath) bytes, found \"\(PlainText.line(socket))\""
            )
        }
        endpoint = .socket(socket)
        request = (isEncrypted ? "https" : "http") + "+unix://" + host + path
        self.path = path
        description = (isEncrypted ? "https+unix:" : "unix:") + socket
        self.isEncrypted = isEncrypted
        isRemote = false
    }

    private static func unknown(_ text: String) -> InvalidOption {
        InvalidOption(
            "expected a URL as http://127.0.0.1:10910, https://host, unix:/run/dnp-telemetry/http.sock or "
                + "https+unix:/run/dnp-telemetry/http.sock, found \"\(PlainText.line(text))\""
        )
    }
}
