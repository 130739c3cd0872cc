// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

extension InputFile {
    /// Whether opening it leaves it as it is. A pipe gives its content once, and opening one waits for who writes it.
    package static func isReadTheSameTwice(_ path: String) -> Bool {
        guard path != standardInput else { return true }
        // What is missing is found when it is opened; links that only the kernel follows lead to pipes.
        guard let resolved = unsafe realpath(path, nil) else { return unsafe access(path, F_OK) != 0 }
        defer { unsafe free(resolved) }
        let attributes = try? unsafe FileManager.default.attributesOfItem(atPath: String(cString: resolved))
        let type = attributes?[.type] as? FileAttributeType
        return type != .typeUnknown && type != .typeSocket && type != .typeCharacterSpecial
    }
}
