// SPDX-License-Identifier: Apache-2.0

// The compiler attributes `stat` to one of these three, depending on which module it loads first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc
internal import TelemetryEvents

/// An open file, closed with the last reference to it.
final class OpenFile: Sendable {
    let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}

/// The system calls for following files, and nothing else.
enum FileAccess {
    /// How many entries of a directory are read at most.
    private static let maximumEntries = 10_000
    /// How many files of a directory have their content compared at most.
    private static let maximumCompared = 256

    /// Observes a path, following symbolic links.
    static func look(_ path: String) -> PathObservation {
        var information = stat()
        guard unsafe stat(path, &information) == 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return .absent
            case let code: return .refused(problem(path, code))
            }
        }
        if let problem = refusal(path, information) { return .refused(problem) }
        return .file(FileStatus(information))
    }

    /// Opens a regular file; nil when it is no longer the one that was seen.
    static func open(
        _ path: String,
        _ identity: FileIdentity
    ) throws(FileProblem) -> (file: OpenFile, status: FileStatus)? {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw problem(path, errno)
        }
        let file = OpenFile(descriptor: descriptor)
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0 else { throw problem(path, errno) }
        if let problem = refusal(path, information) { throw problem }
        let status = FileStatus(information)
        return status.identity == identity ? (file, status) : nil
    }

    /// Reads at an offset, and then what shows whether the content before it is unchanged.
    static func read(_ file: OpenFile, at offset: UInt64, count: Int) throws(FileProblem) -> ReadObservation {
        let size = try status(file).size
        let end = min(offset + UInt64(max(0, count)), max(offset, size))
        let bytes = try readBytes(file, offset..<end)
        return ReadObservation(bytes: bytes, status: try status(file), mark: try mark(file, before: offset))
    }

    private static func status(_ file: OpenFile) throws(FileProblem) -> FileStatus {
        var information = stat()
        guard unsafe fstat(file.descriptor, &information) == 0 else { throw problem("the file", errno) }
        return FileStatus(information)
    }

    /// The content before an offset.
    static func mark(_ file: OpenFile, before offset: UInt64) throws(FileProblem) -> ContentMark {
        if offset == 0 { return ContentMark() }
        return ContentMark(
            head: try readBytes(file, ContentMark.headRange(before: offset)),
            tail: try readBytes(file, ContentMark.tailRange(before: offset))
        )
    }

    private static func readBytes(_ file: OpenFile, _ range: Range<UInt64>) throws(FileProblem) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            while count < buffer.count {
                let got = unsafe pread(
                    file.descriptor,
                    buffer.baseAddress?.advanced(by: count),
                    buffer.count - count,
                    off_t(clamping: range.lowerBound + UInt64(count))
                )
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { break }
                count += got
            }
        }
        if failure != 0, bytes.isEmpty { throw problem("the file", failure) }
        return bytes
    }

    /// The regular files in the directory of a path, and in that of the file that it links to.
    static func survey(_ path: String, offset: UInt64, _ pseudonyms: any Pseudonymising) -> [Sibling] {
        var siblings: [Sibling] = []
        for directory in directories(of: path) { list(directory, into: &siblings) }
        siblings.sort { $0.status.modified > $1.status.modified }
        var left = maximumCompared
        for index in siblings.indices where siblings[index].status.size >= offset {
            if offset == 0 {
                siblings[index].fingerprint = 0
            } else if left > 0 {
                left -= 1
                siblings[index].fingerprint = fingerprint(siblings[index], before: offset, pseudonyms)
            }
        }
        return siblings
    }

    private static func fingerprint(
        _ sibling: Sibling,
        before offset: UInt64,
        _ pseudonyms: any Pseudonymising
    ) -> UInt64? {
        guard
            let (file, _) = try? open(sibling.path, sibling.status.identity) ?? nil,
            let mark = try? mark(file, before: offset)
        else { return nil }
        return mark.fingerprint(pseudonyms)
    }

    private static func list(_ directory: String, into siblings: inout [Sibling]) {
        guard let stream = unsafe opendir(directory) else { return }
        defer { unsafe closedir(stream) }
        var seen = 0
        while seen < maximumEntries, let entry = unsafe readdir(stream) {
            seen += 1
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            var information = stat()
            let path = (directory.hasSuffix("/") ? directory : directory + "/") + name
            guard unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { continue }
            siblings.append(Sibling(path: path, name: name, status: FileStatus(information), fingerprint: nil))
        }
    }

    /// The path without symbolic links; of an absent file, with those of its directory resolved.
    static func resolved(_ path: String) -> String {
        if let resolved = realPath(path) { return resolved }
        guard let directory = realPath(directory(of: path)) else { return path }
        let name = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
        return directory == "/" ? "/" + name : directory + "/" + name
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The directory of a path, and that of the file that it links to where it is another.
    static func directories(of path: String) -> [String] {
        var directories = [directory(of: path)]
        if let resolved = realPath(path) {
            let other = directory(of: resolved)
            if other != directories[0] { directories.append(other) }
        }
        return directories
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func refusal(_ path: String, _ information: stat) -> FileProblem? {
        let kind: String
        switch information.st_mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR: kind = "a directory; name a file in it"
        case S_IFIFO: kind = "a pipe; read it with --stdin"
        case S_IFSOCK: kind = "a socket"
        default: kind = "a device"
        }
        return FileProblem(description: "cannot follow \(path): it is \(kind)", isPermanent: true)
    }

    private static func problem(_ path: String, _ code: Int32) -> FileProblem {
        FileProblem(description: "cannot read \(path): \(unsafe String(cString: strerror(code)))")
    }
}

extension FileStatus {
    fileprivate init(_ information: stat) {
        self.init(
            identity: FileIdentity(device: UInt64(information.st_dev), inode: UInt64(information.st_ino)),
            size: UInt64(clamping: information.st_size),
            modified: Int64(information.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(information.st_mtim.tv_nsec)
        )
    }
}
