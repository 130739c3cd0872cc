// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A directory of this process for what a target has to write, below `TMPDIR`.
enum Scratch {
    static let directory: URL = {
        let directory = FileManager.default.temporaryDirectory.appending(path: "dnp-fuzz-\(getpid())")
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            fatalError("cannot create \(directory.path): \(error)")
        }
        return directory
    }()

    /// Removes what was written.
    static func remove() {
        try? FileManager.default.removeItem(at: directory)
    }
}
