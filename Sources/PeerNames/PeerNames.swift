// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import NIOSSL

/// The alternative names of a certificate (RFC 5280, 4.2.1.6), as the exporter-toolkit compares them: hosts, mail
/// addresses, IP addresses and URIs.
package enum CertificateNames {
    /// Empty for a certificate without alternative names, or with a name that is not ASCII.
    package static func of(_ certificate: NIOSSLCertificate) -> Set<String> {
        var names: Set<String> = []
        for name in certificate._subjectAlternativeNames() {
            let bytes = Array(name.contents)
            switch name.nameType {
            case .dnsName, .email, .uri:
                // These are IA5String, so other bytes make the extension malformed.
                guard bytes.allSatisfy({ $0 < 0x80 }) else { return [] }
                names.insert(String(decoding: bytes, as: UTF8.self))
            case .ipAddress:
                let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0)
                if let text = address?.ipAddress { names.insert(text) }
            default: break
            }
        }
        return names
    }
}

/// Which hosts are this machine alone.
package enum LocalHost {
    /// A name or an address of the loopback, in brackets or not.
    package static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased().drop { $0 == "[" }.prefix { $0 != "]" }
        return name == "localhost" || name == "::1" || isLoopbackIPv4(name)
    }

    /// 127.0.0.0/8 (RFC 1122, 3.2.1.3), and no name that begins so.
    private static func isLoopbackIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
