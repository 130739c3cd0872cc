// SPDX-License-Identifier: Apache-2.0

internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A file of 32 secret bytes that only its owner may read.
struct KeyFile {
    private static let size = 32

    let path: String

    /// The key, or nil where there is no file.
    func load() throws(InstallationKeyError) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw InstallationKeyError(path: path, problem: "it cannot be opened (errno \(errno))")
        }
        defer { close(file) }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let mode = attributes?[.posixPermissions] as? Int, mode & 0o077 == 0 else {
            throw InstallationKeyError(path: path, problem: "others may read or write it; expected mode 0600")
        }
        var bytes = [UInt8](repeating: 0, count: Self.size + 1)
        let count = unsafe read(file, &bytes, bytes.count)
        guard count == Self.size else {
            throw InstallationKeyError(path: path, problem: "it holds \(max(count, 0)) bytes; expected \(Self.size)")
        }
        return Array(bytes.prefix(Self.size))
    }

    /// Writes the key beside its place and renames it, so that a crash leaves a whole key or none.
    func create(_ bytes: [UInt8]) throws(InstallationKeyError) {
        let temporary = path + ".new"
        unsafe unlink(temporary)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw InstallationKeyError(path: path, problem: "it cannot be made (errno \(errno))")
        }
        let written = unsafe write(file, bytes, bytes.count)
        let synced = fsync(file)
        close(file)
        guard written == bytes.count, synced == 0, unsafe rename(temporary, path) == 0 else {
            throw InstallationKeyError(path: path, problem: "it cannot be written (errno \(errno))")
        }
        syncDirectory()
    }
    /// Makes the new name durable, so that a loss of power cannot keep the ledger and lose its key.
    private func syncDirectory() {
        let directory = path.split(separator: "/").dropLast().joined(separator: "/")
        let file = unsafe open("/" + directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return }
        fsync(file)
        close(file)
    }
}
