// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A `web.config.yml` that a test writes, and writes anew.
struct WebConfigurationFile {
    let path: String

    init(_ text: String, in directory: String) throws {
        path = "\(directory)/web.config.yml"
        try write(text)
    }

    func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// The hash that htpasswd makes of a password.
    static func hash(_ password: String, cost: Int = 5) async throws -> String {
        try MissingDependency.require(executable: "/usr/bin/htpasswd", package: "apache2-utils")
        let line = try await Command.run(["/usr/bin/htpasswd", "-nbBC", "\(cost)", "", password]).text
        return String(line.drop { $0 == ":" }.prefix { !$0.isNewline })
    }
}
