// SPDX-License-Identifier: Apache-2.0

/// What the system says about a regular file.
struct FileStatus: Hashable, Sendable {
    var identity: FileIdentity
    /// In bytes.
    var size: UInt64
    /// When it was last written, in nanoseconds since 1970.
    var modified: Int64
}

/// Why a file cannot be followed at the moment: one sentence for the operator.
struct FileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// Whether it will not go away by itself: what stands there is no file.
    var isPermanent = false
}

/// What stands at the followed path.
enum PathObservation: Hashable, Sendable {
    case absent
    case refused(FileProblem)
    case file(FileStatus)
}

/// A file beside the followed one.
struct Sibling: Hashable, Sendable {
    var path: String
    var name: String
    var status: FileStatus
    /// The fingerprint before the offset that was asked for; nil for a shorter or an unreadable file.
    var fingerprint: UInt64?
}

/// What one look into an open file has found. The bytes are read first, then all the rest: where the rest is as it was
/// before, so were the bytes.
struct ReadObservation: Sendable {
    var bytes: [UInt8]
    var status: FileStatus
    /// What stands before the offset now.
    var mark: ContentMark
}
