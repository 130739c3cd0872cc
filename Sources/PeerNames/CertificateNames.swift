// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import NIOSSL
internal import SwiftASN1
internal import X509

/// The alternative names of a certificate (RFC 5280, 4.2.1.6), as the exporter-toolkit compares them: hosts, mail
/// addresses, IP addresses and URIs.
package enum CertificateNames {
    /// Empty where there are none or the certificate cannot be read.
    package static func of(_ certificate: NIOSSLCertificate) -> Set<String> {
        guard let bytes = try? certificate.toDERBytes(), let parsed = try? Certificate(derEncoded: bytes),
            let names = try? parsed.extensions.subjectAlternativeNames
        else { return [] }
        return Set(names.compactMap(text))
    }

    private static func text(_ name: GeneralName) -> String? {
        switch name {
        case .dnsName(let name), .rfc822Name(let name), .uniformResourceIdentifier(let name): name
        case .ipAddress(let octets):
            try? SocketAddress(packedIPAddress: ByteBuffer(bytes: octets.bytes), port: 0).ipAddress
        default: nil
        }
    }
}
