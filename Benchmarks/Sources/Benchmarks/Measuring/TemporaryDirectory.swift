// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Directories that a run makes and removes.
enum TemporaryDirectory {
    static func make(in parent: String, name: String) throws -> String {
        let path = "\(parent)/\(name)-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
    }
}
