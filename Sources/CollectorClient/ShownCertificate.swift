// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import NIOCore
internal import NIOSSL
internal import PeerNames

/// What a collector's certificate has to be besides what TLS itself looks at.
struct ShownCertificate: Sendable {
    /// The certificate is another one.
    struct Unexpected: Error {
        /// What was expected.
        let expected: String
    }

    private enum Rule {
        /// Has the name, exactly or by a `*.` of its own; TLS itself looks for none behind a socket's path, and takes the
        /// address in its place.
        case named(String)
        /// Is this one, in DER.
        case same([UInt8])
    }

    private let rule: Rule

    /// - Returns: nil where nothing has to be looked at.
    init?(_ access: CollectorAccess) throws(InvalidOption) {
        if let pem = access.expectedCertificate {
            guard let first = try? NIOSSLCertificate.fromPEMBytes(pem).first, let der = try? first.toDERBytes() else {
                throw InvalidOption("the service's own certificate cannot be read; name its authority with --ca")
            }
            rule = .same(der)
        } else if let name = access.serverName {
            rule = .named(name)
        } else {
            return nil
        }
    }

    /// Looks at a connection whose handshake is through.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMapThrowing { try check($0) }
    }

    private func check(_ shown: NIOSSLCertificate?) throws {
        switch rule {
        case .same(let der):
            guard try shown?.toDERBytes() == der else {
                throw Unexpected(expected: "the one that its web configuration names")
            }
        case .named(let name):
            guard let shown, CertificateNames.of(shown).contains(where: { Self.fits($0, name) }) else {
                throw Unexpected(expected: "one for \(name)")
            }
        }
    }

    /// A `*` stands for one whole label, the first (RFC 6125, 6.4.3).
    static func fits(_ pattern: String, _ name: String) -> Bool {
        let (pattern, name) = (pattern.lowercased(), name.lowercased())
        guard pattern.hasPrefix("*.") else { return pattern == name }
        guard let dot = name.firstIndex(of: "."), dot > name.startIndex else { return false }
        return pattern.dropFirst() == name[dot...] && pattern.dropFirst(2).contains(".")
    }
}
