// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A new directory that is removed after the body has run.
func withTemporaryDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let name = "dnp-integration-\(UUID().uuidString.prefix(8))"
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// The bytes of a file, or nothing while it does not exist.
func contents(of path: String) -> Data {
    FileManager.default.contents(atPath: path) ?? Data()
}

/// A file's text, with U+FFFD for what is not UTF-8.
func text(of path: String) -> String {
    String(decoding: contents(of: path), as: UTF8.self)
}

/// Something that these tests need and this machine does not have.
struct MissingDependency: Error, CustomStringConvertible {
    let description: String

    static func require(executable path: String, package: String) throws {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw MissingDependency(
                description: "The integration tests need \(path): run `apt-get install -y \(package)` and start again."
            )
        }
    }

    static func requireRoot(to purpose: String) throws {
        guard geteuid() == 0 else {
            throw MissingDependency(
                description: "The integration tests need root to \(purpose): run them as root, in a container at best."
            )
        }
    }
}
