// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

/// A directory that is removed with the value that owns it.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("dnp-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of the files in it, sorted.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// A copy of the directory as it is now: what a crash would leave.
    ///
    /// A crash leaves all files as of one moment, so the copy is made again where one has changed meanwhile.
    package func crashImage() throws -> TemporaryDirectory {
        while true {
            let image = try TemporaryDirectory()
            let names = try names().filter { $0 != "ledger.reserve" }
            for name in names { try FileManager.default.copyItem(atPath: file(name), toPath: image.file(name)) }
            // SQLite makes the shared memory anew.
            let isStill = names.allSatisfy { name in
                name.hasSuffix("-shm") || contents(of: file(name)) == contents(of: image.file(name))
            }
            if isStill { return image }
        }
    }
}

/// Runs the body with a directory that is removed afterwards, which other users may enter.
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
