// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

/// A new directory that is removed after the body has run.
package func withTemporaryDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let name = "dnp-test-\(UUID().uuidString.prefix(8))"
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// The bytes of a file, or nothing while it does not exist.
package func contents(of path: String) -> Data {
    FileManager.default.contents(atPath: path) ?? Data()
}

/// A file's text, with U+FFFD for what is not UTF-8.
package func text(of path: String) -> String {
    String(decoding: contents(of: path), as: UTF8.self)
}

/// Something that these tests need and this machine does not have.
package struct MissingDependency: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }

    package static func require(executable path: String, package: String) throws {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw MissingDependency(
                description: "The tests need \(path): run `apt-get install -y \(package)` and start again."
            )
        }
    }

    package static func requireRoot(to purpose: String) throws {
        guard geteuid() == 0 else {
            throw MissingDependency(
                description: "The tests need root to \(purpose): run them as root, in a container at best."
            )
        }
    }
}
