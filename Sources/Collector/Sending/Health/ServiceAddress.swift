// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Where the local service listens, by the settings that it is started with.
public enum ServiceAddress {
    /// Where it listens when nothing is told, and where the socket unit of the package does.
    public static let standard = "http://127.0.0.1:10910"

    /// The URL of the first listener that answers HTTP.
    ///
    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - file: the configuration file; nil: the one that the environment names, or none.
    /// - Throws: `UnknownOption` for settings that cannot be read, or that tell no address.
    public static func url(environment: [String: String], file: String?) throws(UnknownOption) -> String {
        let named = environment[SettingsReader.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        // Nothing is stored here, so it may be told or not.
        let reader = SettingsReader(options: ["state-dir": ["/"]], environment: environment, file: file ?? named)
        let configuration: ServeConfiguration
        do throws(ConfigurationProblems) {
            configuration = try reader.read()
        } catch {
            throw UnknownOption("the settings cannot be read: \(error.problems.first.map { "\($0)" } ?? "")")
        }
        guard let listener = configuration.listeners.first(where: { !$0.services.contains(.lines) }) else {
            throw UnknownOption("no listener answers HTTP; expected --url")
        }
        let scheme = isEncrypted(configuration.webConfigurationFile) ? "https" : "http"
        switch listener.endpoint {
        case .unix(let path, _, _): return "unix:\(path)"
        case .inherited: return standard.replacing("http", with: scheme)
        case .address(_, 0): throw UnknownOption("the service takes any free port; expected --url")
        case .address(let host, let port): return "\(scheme)://\(local(host)):\(port)"
        }
    }

    /// A host that means all addresses is reached on this machine's own.
    private static func local(_ host: String) -> String {
        switch host {
        case "", "0.0.0.0", "*": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }

    /// Whether a web configuration tells of TLS.
    private static func isEncrypted(_ path: String?) -> Bool {
        guard let path, let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        return text.split(separator: "\n").contains { $0.hasPrefix("tls_server_config:") }
    }
}
