// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LogInput
internal import NIOSSL
internal import PeerNames
internal import TextOutput

/// The credentials and TLS options of a client. Secrets come from files, because every user of a machine sees arguments.
package struct CollectorAccess: Sendable {
    /// The credential in `$CREDENTIALS_DIRECTORY` that is used when no file is named.
    package static let credential = "token"
    /// The longest secret, in bytes.
    static let longestSecret = 8_192

    /// A file with a bearer token.
    package var tokenFile: String?
    /// A file with `name:password`.
    package var basicAuthFile: String?
    /// A PEM file with the authorities to trust instead of the machine's.
    package var authorities: String?
    /// A PEM file with the client's certificate chain.
    package var certificate: String?
    /// A PEM file with the certificate's key.
    package var key: String?
    /// The name in the collector's certificate, if it differs from the host of the URL.
    package var serverName: String?
    /// The pinned certificate of the collector, as PEM; issuer and name don't matter.
    package var expectedCertificate: [UInt8]?
    /// Whether any certificate is accepted.
    package var trustsAnyone = false

    /// No credentials, and the machine's authorities.
    package init() {}

    /// Whether a text is a host name: letters, digits and dashes between dots, and no address.
    package static func isServerName(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let isMadeOfLabels = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
        // The last label of a name is never a number (RFC 3696, 2).
        return isMadeOfLabels && text.utf8.count <= 253 && labels.last.map { Int($0) == nil } ?? false
    }

    /// The value of `Authorization`; nil without a secret.
    ///
    /// - Parameter directory: `$CREDENTIALS_DIRECTORY`.
    func authorization(credentials directory: String?) throws(InvalidOption) -> String? {
        if let basicAuthFile {
            let secret = try Self.secret(in: basicAuthFile)
            guard secret.contains(":") else {
                throw InvalidOption("\(basicAuthFile): expected name:password, found no colon")
            }
            return "Basic " + Data(secret.utf8).base64EncodedString()
        }
        if let tokenFile { return "Bearer " + (try Self.token(in: tokenFile)) }
        guard let directory, !directory.isEmpty else { return nil }
        let path = directory + "/" + Self.credential
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return "Bearer " + (try Self.token(in: path))
    }

    /// The TLS configuration.
    ///
    /// - Parameter url: for a socket TLS verifies no host name.
    func encryption(with url: CollectorURL) throws(InvalidOption) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if url.host == nil { configuration.certificateVerification = .noHostnameVerification }
        if trustsAnyone || expectedCertificate != nil { configuration.certificateVerification = .none }
        if let authorities {
            // Read here, so that a bad file is reported before anything is sent.
            let trusted = try Self.pem(authorities, "--ca") { try NIOSSLCertificate.fromPEMFile(authorities) }
            configuration.trustRoots = .certificates(trusted)
        }
        if let certificate {
            let chain = try Self.pem(certificate, "--cert") { try NIOSSLCertificate.fromPEMFile(certificate) }
            configuration.certificateChain = chain.map { .certificate($0) }
        }
        if let key {
            configuration.privateKey = .privateKey(
                try Self.pem(key, "--key") { try NIOSSLPrivateKey(file: key, format: .pem) }
            )
            try Self.checkPair(of: configuration)
        }
        return configuration
    }

    /// BoringSSL checks that the key belongs to the certificate; trust plays no part.
    private static func checkPair(of configuration: TLSConfiguration) throws(InvalidOption) {
        var pair = configuration
        pair.trustRoots = .certificates([])
        pair.certificateVerification = .none
        do {
            _ = try NIOSSLContext(configuration: pair)
        } catch {
            throw InvalidOption("expected --key as the key of the certificate of --cert, found another one")
        }
    }

    private static func pem<Value>(
        _ path: String,
        _ option: String,
        _ read: () throws -> Value
    ) throws(InvalidOption) -> Value {
        do {
            return try read()
        } catch {
            let found = FileManager.default.isReadableFile(atPath: path) ? "something else" : "no file that can be read"
            throw InvalidOption("expected \(option) as a file in PEM form, found \(found) at \(PlainText.line(path))")
        }
    }

    private static func token(in path: String) throws(InvalidOption) -> String {
        let token = try secret(in: path)
        guard !token.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else {
            throw InvalidOption(
                "\(PlainText.line(path)): expected a token of printable ASCII, found something else in it"
            )
        }
        return token
    }

    /// The content of a file without its final line break.
    private static func secret(in path: String) throws(InvalidOption) -> String {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: longestSecret + 1)
        else {
            throw InvalidOption("\(PlainText.line(path)): expected a file with a secret, found none that can be read")
        }
        var bytes = [UInt8](data)
        if bytes.last == 0x0A { bytes.removeLast() }
        if bytes.last == 0x0D { bytes.removeLast() }
        guard (1...longestSecret).contains(bytes.count), let text = String(validating: bytes, as: UTF8.self),
            !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            throw InvalidOption(
                "\(PlainText.line(path)): expected a secret of one line and at most \(longestSecret) bytes, "
                    + "found \(bytes.isEmpty ? "nothing" : "something else")"
            )
        }
        return text
    }
}

/// What a collector's certificate has to be besides what TLS verifies.
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

    /// - Parameter shown: the collector's certificate after the handshake.
    func check(_ shown: NIOSSLCertificate?) throws {
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
