// SPDX-License-Identifier: Apache-2.0

internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Writes a file atomically: a reader sees the whole new content or none of it.
package enum OutputFile {
    /// Writes to a temporary file in the same directory, then renames it to `path`.
    ///
    /// An existing path that is no regular file, such as a pipe, is written to directly.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - path: the file's path.
    ///   - mayReplace: whether an existing file may be replaced.
    package static func write(_ bytes: [UInt8], to path: String, mayReplace: Bool) throws(OutputError) {
        let place = try Place(path)
        guard place.isFile else { return try write(bytes, to: path, flags: O_WRONLY) }
        let draft = "\(place.path).\(getpid()).part"
        do throws(OutputError) {
            try write(bytes, to: draft, flags: O_WRONLY | O_CREAT | O_EXCL)
        } catch {
            throw OutputError(path: path, problem: error.problem)
        }
        defer { unsafe unlink(draft) }
        if !mayReplace {
            if unsafe link(draft, place.path) == 0 { return }
            switch errno {
            case EEXIST: throw OutputError(path: path, problem: Self.isThere)
            case EPERM, ENOTSUP:
                // File systems without hard links.
                if exists(path) { throw OutputError(path: path, problem: Self.isThere) }
            default: throw OutputError(path, errno)
            }
        }
        guard unsafe rename(draft, place.path) == 0 else { throw OutputError(path, errno) }
    }

    /// The path with its symbolic links resolved, so that a link stays and its target is replaced.
    private struct Place {
        var path: String
        /// False for an existing path that is no regular file, such as a pipe or a device.
        var isFile = true

        init(_ path: String) throws(OutputError) {
            self.path = path
            guard let resolved = unsafe realpath(path, nil) else {
                // Links that only the kernel resolves, such as /dev/stdout to a pipe.
                isFile = !OutputFile.exists(path)
                return
            }
            defer { unsafe free(resolved) }
            self.path = unsafe String(cString: resolved)
            let type = try? FileManager.default.attributesOfItem(atPath: self.path)[.type] as? FileAttributeType
            if type == .typeDirectory { throw OutputError(path, EISDIR) }
            isFile = type == .typeRegular
        }
    }

    /// Checks that a path can be written, as far as that is known beforehand.
    ///
    /// - Throws: when the directory is missing, or the path is a directory itself.
    package static func check(_ path: String) throws(OutputError) {
        _ = try Place(path)
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        var isDirectory: ObjCBool = false
        let isThere = unsafe FileManager.default.fileExists(atPath: String(path[..<slash]), isDirectory: &isDirectory)
        guard isThere, isDirectory.boolValue else { throw OutputError(path, ENOENT) }
    }

    private static let isThere = "it is there already; --force replaces it"

    /// Whether the path exists.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private static func write(_ bytes: [UInt8], to path: String, flags: Int32) throws(OutputError) {
        let descriptor = unsafe open(path, flags | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw OutputError(path, errno) }
        let problem = FileOutput.write(bytes, to: descriptor)
        guard close(descriptor) == 0, problem == 0 else {
            let number = problem == 0 ? errno : problem
            if flags & O_CREAT != 0 { unsafe unlink(path) }
            throw OutputError(path, number)
        }
    }
}

/// The system call, which methods named `write` would shadow.
private func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe write(descriptor, bytes.baseAddress, bytes.count)
}

/// Writes to open file descriptors.
package enum FileOutput {
    /// Writes all bytes; returns 0, or the `errno` of the failure.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        unsafe bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = unsafe writeOnce(descriptor, .init(rebasing: buffer[done...]))
                if count < 0, errno != EINTR { return errno }
                done += max(count, 0)
            }
            return 0
        }
    }
}

/// A file that cannot be written, as a sentence for the user.
package struct OutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file as it was named.
    package let path: String
    /// What is wrong, and what to do.
    package let problem: String

    package init(path: String, problem: String) {
        self.path = path
        self.problem = problem
    }

    package init(_ path: String, _ number: Int32) {
        self.path = path
        problem =
            switch number {
            case ENOENT: "there is no such directory"
            case EACCES, EPERM: "permission to write it is denied"
            case EISDIR: "it is a directory; name a file in it"
            case ENOSPC: "no space is left"
            default: unsafe "it cannot be written: \(String(cString: strerror(number)))"
            }
    }

    /// The file and its problem.
    package var description: String { "\(PlainText.line(path)): \(problem)" }
}
