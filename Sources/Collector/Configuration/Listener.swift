// SPDX-License-Identifier: Apache-2.0

/// A place where the service listens, and what it answers there.
///
/// Written as an endpoint and attributes behind spaces: `127.0.0.1:10910`, `:10910` for every address,
/// `unix:/run/dnp-telemetry/http.sock mode=0660 group=adm`, `systemd:lines serve=lines`, `[::1]:9090 serve=metrics`.
package struct Listener: Hashable, Sendable {
    /// Where it listens.
    package enum Endpoint: Hashable, Sendable {
        /// An address or a name and a port; an empty host is every address, port 0 takes a free one. An empty host is every address, of IPv6 and of IPv4.
        case address(host: String, port: Int)
        /// A path in the file system, with its mode (octal) and its group where they are told.
        case unix(path: String, mode: UInt16?, group: String?)
        /// A socket that the service manager hands over under a name (`FileDescriptorName=`, systemd.socket(5)); nil takes
        /// all that are handed over and have no listener of their own.
        case inherited(name: String?)
    }

    /// What is answered.
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
    }

    /// Where it listens.
    package var endpoint: Endpoint
    /// What is answered.
    package var services: Services

    /// A listener for ingest and metrics, unless told otherwise.
    package init(_ endpoint: Endpoint, services: Services = [.ingest, .metrics]) {
        self.endpoint = endpoint
        self.services = services
    }
}
