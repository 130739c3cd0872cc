// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Certificates that OpenSSL makes, in a directory of their own.
package final class TestCertificates: Sendable {
    private let directory: TemporaryDirectory

    package var path: String { directory.path }

    package init() throws {
        directory = try TemporaryDirectory()
        try make(
            "server",
            subject: "/CN=server",
            names: "DNS:localhost,IP:127.0.0.1,IP:2001:db8:0:0::1,URI:spiffe://x/y"
        )
        try make("other", subject: "/CN=other", names: "email:a@example.org")
    }

    package func make(_ name: String, subject: String, names: String) throws {
        try Program.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                "-subj", subject, "-addext", "subjectAltName=\(names)", "-keyout", directory.file("\(name).key"),
                "-out", directory.file("\(name).pem"),
            ]
        )
    }

    package func file(_ name: String) -> String { directory.file(name) }

    /// A file's text, each line indented, for a block of YAML.
    package func indented(_ name: String) throws -> String {
        String(decoding: try Files.read(file(name)), as: UTF8.self).split(separator: "\n").map { "    \($0)\n" }
            .joined()
    }
}
