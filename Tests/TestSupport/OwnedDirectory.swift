// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Collector
@testable import LedgerState

/// A directory that goes away with the value that owns it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "collector-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// A copy of the directory as it is now: what a crash would leave.
    func crashImage() throws -> TemporaryDirectory {
        let image = try TemporaryDirectory()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: file(name), toPath: image.file(name))
        }
        return image
    }
}
