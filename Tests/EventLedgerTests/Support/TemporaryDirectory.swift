// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A directory that is removed with its last reference.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/event-ledger-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw Program.Failure(what: "mkdtemp", status: errno)
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The names of the files in it, sorted.
    func names() throws -> [String] {
        guard let stream = unsafe opendir(path) else { throw Program.Failure(what: "opendir \(path)", status: errno) }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// Reads, overwrites and cuts files.
enum FileBytes {
    static func read(_ path: String) throws -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Program.Failure(what: "open \(path)", status: errno) }
        defer { _ = close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    static func write(_ bytes: [UInt8], to path: String, at offset: Int = 0) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Program.Failure(what: "open \(path)", status: errno) }
        defer { _ = close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset) }
        guard count == bytes.count else { throw Program.Failure(what: "write \(path)", status: errno) }
    }

    static func copy(_ source: String, to target: String) throws {
        try write(read(source), to: target)
    }

    static func append(_ bytes: [UInt8], to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Program.Failure(what: "open \(path)", status: errno) }
        defer { _ = close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw Program.Failure(what: "append to \(path)", status: errno) }
    }

    static func truncate(_ path: String, to size: Int) throws {
        guard unsafe Glibc.truncate(path, size) == 0 else { throw Program.Failure(what: "truncate", status: errno) }
    }

    static func remove(_ path: String) throws {
        guard unsafe unlink(path) == 0 else { throw Program.Failure(what: "unlink \(path)", status: errno) }
    }

    static func mode(_ path: String) throws -> UInt32 {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw Program.Failure(what: "stat \(path)", status: errno) }
        return status.st_mode & 0o777
    }

    /// The offset of the first `pattern` in `bytes`.
    static func find(_ pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress, let first = pattern.first else { return nil }
            var offset = 0
            while offset + pattern.count <= buffer.count {
                let rest = buffer.count - offset
                guard let found = unsafe memchr(start + offset, Int32(first), rest) else { return nil }
                offset = unsafe UnsafeRawPointer(found) - start
                if offset + pattern.count <= buffer.count, unsafe memcmp(found, pattern, pattern.count) == 0 {
                    return offset
                }
                offset += 1
            }
            return nil
        }
    }
}

/// Runs programs of the system and waits for them.
enum Program {
    struct Failure: Error {
        let what: String
        let status: Int32
    }

    static func run(_ arguments: String...) throws {
        try spawn(arguments)
    }

    private static func spawn(_ arguments: [String]) throws {
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe strings.forEach { unsafe free($0) } }
        var child = pid_t()
        let code = unsafe posix_spawn(&child, arguments[0], nil, nil, &strings, environ)
        guard code == 0 else { throw Failure(what: arguments.joined(separator: " "), status: code) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw Failure(what: arguments.joined(separator: " "), status: status) }
    }
}
