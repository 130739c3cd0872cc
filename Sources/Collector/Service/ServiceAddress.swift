// SPDX-License-Identifier: Apache-2.0

package import LogInput

/// The address of the local service, from the settings that it starts with.
package struct ServiceAddress: Hashable, Sendable {
    /// The default address, also of the socket unit of the package.
    package static let standard = "127.0.0.1:10910"

    /// The URL of the first listener that answers HTTP.
    package let url: String
    /// The certificate of that listener, as PEM; nil without TLS.
    package let certificate: [UInt8]?

    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - file: the configuration file; nil: the one that the environment names, or none.
    /// - Throws: `InvalidOption` for settings that cannot be read, or that have no address.
    package init(environment: [String: String], file: String?) throws(InvalidOption) {
        let named = environment[SettingsReader.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        // Nothing is stored here, so any state directory will do.
        let reader = SettingsReader(options: ["state-dir": ["/"]], environment: environment, file: file ?? named)
        let configuration: ServeConfiguration
        do throws(ConfigurationProblems) {
            configuration = try reader.read()
        } catch {
            throw InvalidOption("the settings cannot be read: \(error.problems.first.map { "\($0)" } ?? "")")
        }
        guard let listener = configuration.listeners.first(where: { !$0.services.contains(.lines) }) else {
            throw InvalidOption("no listener answers HTTP; expected --url")
        }
        do throws(ConfigurationProblem) {
            certificate = try Self.certificate(configuration.webConfigurationFile)
        } catch {
            throw InvalidOption("the web configuration cannot be read: \(error)")
        }
        let scheme = certificate == nil ? "http" : "https"
        switch listener.endpoint {
        case .unix(let path, _, _): url = certificate == nil ? "unix:\(path)" : "https+unix:\(path)"
        case .inherited: url = "\(scheme)://\(Self.standard)"
        case .address(_, 0): throw InvalidOption("the service listens on any free port; expected --url")
        case .address(let host, let port): url = "\(scheme)://\(Self.local(host)):\(port)"
        }
    }

    /// The loopback address in place of a host that stands for all addresses.
    private static func local(_ host: String) -> String {
        switch host {
        case "", "0.0.0.0", "*": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }

    /// The certificate of a web configuration; nil without TLS.
    private static func certificate(_ path: String?) throws(ConfigurationProblem) -> [UInt8]? {
        guard let path else { return nil }
        switch try WebConfiguration(try YAMLFile.read(path), path: path).tls?.certificate {
        case nil: return nil
        case .inline(let text): return Array(text.utf8)
        case .file(let file):
            do throws(SmallFile.Failure) {
                return try SmallFile.read(file, maximumSize: TLSPolicy.maximumFile)
            } catch {
                throw ConfigurationProblem(.file(file, line: nil), error.description)
            }
        }
    }
}
