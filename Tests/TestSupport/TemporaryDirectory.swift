// SPDX-License-Identifier: Apache-2.0

import Foundation

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
