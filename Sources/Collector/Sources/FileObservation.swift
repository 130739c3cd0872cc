// SPDX-License-Identifier: Apache-2.0

extension FileTail {
    /// What the owner executes next.
    enum Request: Equatable, Sendable {
        /// Process these lines, which end at the position.
        case deliver(Chunk)
        /// List the directory, with fingerprints before this offset.
        case survey(offset: UInt64)
        case open(Target)
        /// Read the file at an offset, with the mark before it.
        case read(FileIdentity, offset: UInt64, count: Int)
        /// Nothing until the next look.
        case rest
    }

    /// Whole lines, with the position after them.
    struct Chunk: Equatable, Sendable {
        var lines: [UInt8]
        var position: FilePosition
        /// How many bytes of the file were read for it.
        var bytesRead: Int
    }

    /// A file to open, and from where to read it.
    struct Target: Equatable, Sendable {
        var path: String
        var identity: FileIdentity
        /// Where reading resumes; nil for a file that is read from its beginning once those before it are finished.
        var resumed: FilePosition?
    }

    /// What the operator should know.
    enum Notice: Equatable, Sendable {
        case rotated
        case truncated
        /// The rest of a file could not be found.
        case lostRest
        /// A rotated generation has grown long after its end was read.
        case grown
        case refused(FileProblem)
        case readable
    }
}

/// What stat(2) says about a regular file.
struct FileStatus: Hashable, Sendable {
    var identity: FileIdentity
    /// In bytes.
    var size: UInt64
    /// The time of the last write, in nanoseconds since 1970.
    var modified: Int64
}

/// Why a file cannot be followed at present: one sentence for the operator.
struct FileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// Whether only the operator can change it: the path is not a regular file.
    var isPermanent = false
}

/// What is at the followed path.
enum PathObservation: Hashable, Sendable {
    case absent
    case refused(FileProblem)
    case file(FileStatus)
}

/// A file in the directory of the followed one.
struct Sibling: Hashable, Sendable {
    var path: String
    var name: String
    var status: FileStatus
    /// The fingerprint before the requested offset; nil for a shorter or an unreadable file.
    var fingerprint: UInt64?
}

/// The result of a read. The bytes are read before status and mark: if these are unchanged, the bytes were valid.
struct ReadObservation: Sendable {
    var bytes: [UInt8]
    var status: FileStatus
    /// The content before the offset now.
    var mark: ContentMark
}
