// SPDX-License-Identifier: Apache-2.0

import NIOSSL
import TestSupport
import Testing

@testable import PeerNames

extension OneAtATime {
    @Suite("Alternative names of a certificate")
    struct CertificateNamesTests {
        @Test(
            "alternative names of a certificate are hosts, mail addresses, IP addresses as Go writes them, and URIs; never the common name"
        )
        func certificateNamesNames() throws {
            let certificates = try TestCertificates()
            let server = try #require(try NIOSSLCertificate.fromPEMFile(certificates.file("server.pem")).first)
            #expect(CertificateNames.of(server) == ["localhost", "127.0.0.1", "2001:db8::1", "spiffe://x/y"])
            let other = try #require(try NIOSSLCertificate.fromPEMFile(certificates.file("other.pem")).first)
            #expect(CertificateNames.of(other) == ["a@example.org"])
        }
    }
}
