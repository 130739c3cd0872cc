// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// An endpoint where the service listens, with the services that it offers there.
///
/// Written as an endpoint and attributes separated by spaces: `127.0.0.1:10910`, `:10910` for every address,
/// `unix:/run/dnp-telemetry/http.sock mode=0660 group=adm`, `systemd:lines serve=lines`, `[::1]:9090 serve=metrics`.
package struct Listener: Hashable, Sendable {
    /// The endpoint.
    package enum Endpoint: Hashable, Sendable {
        /// An address or a name and a port; an empty host is every address of IPv6 and IPv4, port 0 is any free
        /// port.
        case address(host: String, port: Int)
        /// A path in the file system, with its mode (octal) and its group where given.
        case unix(path: String, mode: UInt16?, group: String?)
        /// A socket that the service manager hands over under a name (`FileDescriptorName=`, systemd.socket(5)); nil takes
        /// all that are handed over and have no listener of their own.
        case inherited(name: String?)
    }

    /// What is served.
    package struct Services: OptionSet, Hashable, Sendable {
        /// A bit for each service.
        package let rawValue: UInt8

        /// The services of these bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `POST /v1/events`.
        package static let ingest = Services(rawValue: 1)
        /// The metrics.
        package static let metrics = Services(rawValue: 2)
        /// Lines of a stream socket, without HTTP; excludes the others.
        package static let lines = Services(rawValue: 4)
        /// The console and its API.
        package static let console = Services(rawValue: 8)
    }

    /// The endpoint.
    package var endpoint: Endpoint
    /// What is served.
    package var services: Services

    /// A listener, by default for all that HTTP serves.
    package init(_ endpoint: Endpoint, services: Services = [.ingest, .metrics, .console]) {
        self.endpoint = endpoint
        self.services = services
    }

    /// Whether the system chooses its port, so that several may ask for the same.
    var takesFreePort: Bool {
        if case .address(_, port: 0) = endpoint { true } else { false }
    }
}

extension Listener {
    /// Reads an endpoint and its attributes.
    init(_ text: String) throws(SettingError) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        guard let first = words.first else {
            throw SettingError(expected: "host:port, unix:/path or systemd:name", found: text)
        }
        var attributes = try Self.attributes(words.dropFirst())
        let services = try attributes.removeValue(forKey: "serve").map(Self.services)
        if first.hasPrefix("unix:") {
            self.init(try Self.unix(String(first.dropFirst(5)), &attributes))
        } else if first == "systemd" || first.hasPrefix("systemd:") {
            self.init(.inherited(name: try Self.name(first)))
        } else {
            self.init(try Self.address(first))
        }
        if let services { self.services = services }
        if case .address = endpoint, self.services.contains(.lines) {
            throw SettingError("serve=lines needs unix:/path or systemd:name; addresses take events over HTTP")
        }
        if let other = attributes.keys.min() {
            throw SettingError("\(other)= does not belong to \(first.prefix(200)), only to unix:/path")
        }
    }

    private static func attributes(_ words: ArraySlice<String>) throws(SettingError) -> [String: String] {
        let known = ["serve", "mode", "group"]
        var attributes: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, known.contains(parts[0]) else {
                let suggestion = NearestName.of(parts[0], in: known).map { "; did you mean \($0)=?" } ?? ""
                throw SettingError(
                    SettingError(expected: "serve=, mode= or group=", found: word).message + suggestion
                )
            }
            guard attributes.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw SettingError("found \(parts[0])= twice")
            }
        }
        return attributes
    }

    private static func services(_ text: String) throws(SettingError) -> Services {
        let words = text.split(separator: "+", omittingEmptySubsequences: false)
        var services: Services = []
        for word in words {
            switch word {
            case "ingest": services.insert(.ingest)
            case "metrics": services.insert(.metrics)
            case "console": services.insert(.console)
            case "lines" where words.count == 1: services.insert(.lines)
            default:
                throw SettingError(
                    expected: "serve=ingest, serve=metrics, serve=console, a sum such as serve=metrics+console, or "
                        + "serve=lines",
                    found: "serve=\(text)"
                )
            }
        }
        return services
    }

    private static func unix(
        _ path: String,
        _ attributes: inout [String: String]
    ) throws(SettingError) -> Endpoint {
        guard path.hasPrefix("/"), path.utf8.count <= maximumPath, !path.hasSuffix("/") else {
            throw SettingError(
                expected: "unix: with an absolute path of at most \(maximumPath) bytes",
                found: "unix:\(path)"
            )
        }
        var mode: UInt16?
        if let text = attributes.removeValue(forKey: "mode") {
            guard let bits = UInt16(text, radix: 8), bits <= 0o777, text.utf8.count <= 4 else {
                throw SettingError(expected: "a mode such as 0660", found: text)
            }
            mode = bits
        }
        let group = attributes.removeValue(forKey: "group")
        if group?.isEmpty == true { throw SettingError(expected: "a group", found: "") }
        return .unix(path: path, mode: mode, group: group)
    }

    /// sun_path without its last byte (unix(7)).
    private static let maximumPath = 107

    /// systemd.socket(5): names of descriptors are at most 255 ASCII characters without control characters and colons.
    private static func name(_ text: String) throws(SettingError) -> String? {
        guard text != "systemd" else { return nil }
        let name = text.dropFirst("systemd:".count)
        guard (1...255).contains(name.utf8.count), name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }) else {
            throw SettingError(expected: "systemd:name with a FileDescriptorName=", found: text)
        }
        return String(name)
    }

    private static func address(_ text: String) throws(SettingError) -> Endpoint {
        let complaint = SettingError(
            expected: "host:port such as 127.0.0.1:10910, unix:/path or systemd:name",
            found: text
        )
        guard let colon = text.lastIndex(of: ":") else { throw complaint }
        let digits = text[text.index(after: colon)...]
        guard let port = UInt16(digits), digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { throw complaint }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw complaint
        }
        guard host.utf8.count <= 255, !host.contains("/") else { throw complaint }
        return .address(host: String(host), port: Int(port))
    }
}
