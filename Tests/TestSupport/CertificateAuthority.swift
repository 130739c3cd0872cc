// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Certificates that OpenSSL signs, in one directory: `NAME.pem` and `NAME.key`, the authority's own as `ca`.
package struct CertificateAuthority {
    package let directory: String

    package init(in directory: String) async throws {
        self.directory = directory
        try await openssl(
            ["req", "-x509"] + Self.key + ["-days", "30", "-subj", "/CN=authority", "-keyout", file("ca.key")]
                + ["-out", file("ca.pem")]
        )
        try await sign("server", names: "DNS:localhost,IP:127.0.0.1", use: "serverAuth")
    }

    private static let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    package func file(_ name: String) -> String { "\(directory)/\(name)" }

    /// A certificate of the authority.
    package func sign(_ name: String, names: String, use: String = "clientAuth", days: Int = 30) async throws {
        let extensions = "subjectAltName=\(names)\nextendedKeyUsage=\(use)\n"
        try Data(extensions.utf8).write(to: URL(fileURLWithPath: file("\(name).ext")))
        try await openssl(
            ["req", "-new"] + Self.key + ["-subj", "/CN=\(name)", "-keyout", file("\(name).key")]
                + ["-out", file("\(name).csr")]
        )
        try await openssl([
            "x509", "-req", "-in", file("\(name).csr"), "-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-days",
            "\(days)", "-extfile", file("\(name).ext"), "-out", file("\(name).pem"),
        ])
    }

    /// A certificate that nobody else has signed.
    package func selfSign(_ name: String, names: String) async throws {
        try await openssl(
            ["req", "-x509"] + Self.key + ["-days", "30", "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(names)"]
                + ["-keyout", file("\(name).key"), "-out", file("\(name).pem")]
        )
    }

    private func openssl(_ arguments: [String]) async throws {
        try MissingDependency.require(executable: "/usr/bin/openssl", package: "openssl")
        let command = try await Command.run(["/usr/bin/openssl"] + arguments)
        guard command.status == .code(0) else {
            throw MissingDependency(description: "openssl \(arguments.joined(separator: " ")): \(command.error)")
        }
    }
}
