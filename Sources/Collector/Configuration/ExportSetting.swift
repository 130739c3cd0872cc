// SPDX-License-Identifier: Apache-2.0

package import Export
internal import Foundation
internal import TelemetryEvents

/// A destination of metrics and events, written as a protocol, an address and attributes separated by spaces:
/// `otlp https://collector.example:4318 headers=otlp`, `remote-write http://127.0.0.1:9090/api/v1/write interval=30s`.
package struct ExportSetting: Sendable, Hashable {
    /// A stream for each signal.
    package var streams: [ExportDestination]

    /// The name of the destination.
    var name: String { streams.first?.name ?? "" }
}

extension ExportSetting {
    private static let attributes = [
        "name", "only", "encoding", "compression", "version", "interval", "timeout", "headers", "ca", "cert", "key",
        "proxy",
    ]
    /// Only OTLP has these, and only remote write.
    private static let ofOTLP = ["only", "encoding", "compression"]
    private static let ofRemoteWrite = ["version"]

    /// Reads a protocol, an address and its attributes.
    init(_ text: String) throws(SettingError) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        guard words.count >= 2, ["otlp", "remote-write"].contains(words[0]) else {
            throw SettingError(
                expected: "otlp or remote-write and an address, such as otlp http://127.0.0.1:4318",
                found: text
            )
        }
        guard let endpoint = ExportEndpoint(words[1]) else {
            throw SettingError(
                expected: "an address such as https://collector.example:4318, without a name and password",
                found: Self.withoutSecrets(words[1])
            )
        }
        var values = try Self.values(words.dropFirst(2))
        let isOTLP = words[0] == "otlp"
        for name in isOTLP ? Self.ofRemoteWrite : Self.ofOTLP where values[name] != nil {
            throw SettingError("\(name)= does not belong to \(words[0])")
        }
        let name = try Self.name(values.removeValue(forKey: "name") ?? words[0])
        var streams: [ExportDestination]
        if isOTLP {
            let metrics = ExportDestination(name, .metrics, endpoint.appending("/v1/metrics"))
            let logs = ExportDestination(name, .logs, endpoint.appending("/v1/logs"))
            switch values.removeValue(forKey: "only") {
            case nil: streams = [metrics, logs]
            case "metrics": streams = [metrics]
            case "logs": streams = [logs]
            case let other?: throw SettingError(expected: "only=metrics or only=logs", found: "only=\(other)")
            }
        } else {
            streams = [ExportDestination(name, .remoteWrite, endpoint)]
        }
        for index in streams.indices { try Self.apply(values, to: &streams[index]) }
        self.streams = streams
    }

    private static func values(_ words: ArraySlice<String>) throws(SettingError) -> [String: String] {
        var values: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, attributes.contains(parts[0]) else {
                let suggestion = NearestName.of(parts[0], in: attributes).map { "; did you mean \($0)=?" } ?? ""
                let expected = "one of " + attributes.map { "\($0)=" }.joined(separator: ", ")
                throw SettingError(SettingError(expected: expected, found: word).message + suggestion)
            }
            guard values.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw SettingError("found \(parts[0])= twice")
            }
        }
        return values
    }

    private static func name(_ text: String) throws(SettingError) -> String {
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isName, (1...40).contains(text.utf8.count) else {
            throw SettingError(expected: "name= of at most 40 of a-z, 0-9, - and _", found: text)
        }
        return text
    }

    private static func apply(
        _ values: [String: String],
        to stream: inout ExportDestination
    ) throws(SettingError) {
        if let text = values["encoding"] {
            guard ["protobuf", "json"].contains(text) else {
                throw SettingError(expected: "encoding=protobuf or encoding=json", found: "encoding=\(text)")
            }
            stream.isJSON = text == "json"
        }
        if let text = values["compression"] {
            guard ["gzip", "none"].contains(text) else {
                throw SettingError(expected: "compression=gzip or compression=none", found: "compression=\(text)")
            }
            stream.isCompressed = text == "gzip"
        }
        if let text = values["version"] {
            guard let version = RemoteWrite.Version(rawValue: text) else {
                throw SettingError(expected: "version=1 or version=2", found: "version=\(text)")
            }
            stream.version = version
        }
        if let text = values["interval"] {
            stream.interval = try SettingText.duration(text, .seconds(1) ... .seconds(3_600))
        }
        if let text = values["timeout"] {
            stream.timeout = try SettingText.duration(text, .milliseconds(100) ... .seconds(300))
        }
        if let text = values["proxy"] {
            guard let proxy = ExportEndpoint(text), !proxy.isEncrypted else {
                throw SettingError(
                    expected: "proxy= and an address such as http://proxy.example:3128, without a name and password",
                    found: Self.withoutSecrets(text)
                )
            }
            stream.proxy = proxy
        }
        stream.headersFile = values["headers"]
        if stream.headersFile?.isEmpty == true {
            throw SettingError(expected: "headers= and a file of the credentials directory, or a path", found: "")
        }
        stream.files.authorities = try path("ca", values)
        stream.files.certificate = try path("cert", values)
        stream.files.key = try path("key", values)
        if (stream.files.certificate == nil) != (stream.files.key == nil) {
            throw SettingError("cert= and key= belong together, found one of them")
        }
        if !stream.endpoint.isEncrypted, ["ca", "cert", "key"].contains(where: { values[$0] != nil }) {
            throw SettingError("ca=, cert= and key= need https://, found \(stream.endpoint)")
        }
    }

    /// An address that was refused, as it may be shown: what may be a name and password is left out, and the query.
    private static func withoutSecrets(_ address: String) -> String {
        let scheme = address.range(of: "://").map { address[..<$0.upperBound] } ?? ""
        let at = address.lastIndex(of: "@")
        let shown = (at.map { address[$0...] } ?? address[...]).prefix { $0 != "?" }.prefix(200)
        return at == nil ? String(shown) : "\(scheme)...\(shown)"
    }

    private static func path(_ name: String, _ values: [String: String]) throws(SettingError) -> String? {
        guard let path = values[name] else { return nil }
        guard path.hasPrefix("/"), path.utf8.count < 4_096 else {
            throw SettingError(expected: "\(name)= and an absolute path", found: path)
        }
        return path
    }
}
