// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

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
