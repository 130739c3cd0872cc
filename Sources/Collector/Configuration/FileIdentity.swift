// SPDX-License-Identifier: Apache-2.0

/// What a file is, whatever its name: device and inode (stat(2)).
struct FileIdentity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
}
