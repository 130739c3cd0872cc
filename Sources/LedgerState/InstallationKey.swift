// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Hashing
public import TelemetryEvents

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The key of the installations' pseudonyms: 32 random bytes in a file of mode 0600 (docs/security.md).
///
/// It is created on the first start and never changed.
public struct InstallationKey: Sendable {
    /// The file's name in the state directory.
    public static let fileName = "installation.key"
    private let hash: KeyedHash256

    /// Loads the key, or creates it.
    ///
    /// - Parameter mayCreate: false beside a ledger that was written under a key.
    public init(directory: String, mayCreate: Bool = true) throws(InstallationKeyError) {
        if let key = try Self.load(from: directory) {
            self = key
            return
        }
        let file = KeyFile(directory: directory)
        guard mayCreate else { throw .missing(directory) }
        let bytes = KeyedHash256.randomKey()
        try file.create(bytes)
        hash = KeyedHash256(key: bytes)
    }

    private init(_ bytes: [UInt8]) {
        hash = KeyedHash256(key: bytes)
    }

    /// The key of a state directory; nil where there is none yet.
    package static func load(from directory: String) throws(InstallationKeyError) -> InstallationKey? {
        try KeyFile(directory: directory).load().map { Self($0) }
    }

    /// The key of the hashes that identify events, derived from this one so that there is one secret to keep.
    public var identityKey: IdentityKey {
        let derived = pseudonym(of: Array("dnp-telemetry event identity".utf8).span)
        return IdentityKey(derived.high, derived.low)
    }
}

extension InstallationKey: Pseudonymising {
    /// The first 128 bits of HMAC-SHA-256 (RFC 2104) over the bytes.
    public func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        let code = hash.code(of: bytes)
        return Pseudonym(high: code.first, low: code.second)
    }
}

/// An unusable installation key.
///
/// Starting with another key would give every installation a new pseudonym and count every remembered event again, so
/// the service does not start.
public struct InstallationKeyError: Error, Sendable, CustomStringConvertible {
    /// The key's file.
    public let path: String
    /// What is wrong with it.
    public let problem: String

    /// There is no key in a state directory.
    package static func missing(_ directory: String) -> InstallationKeyError {
        InstallationKeyError(
            path: KeyFile(directory: directory).path,
            problem: "it is missing beside a ledger that was written under it"
        )
    }

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected the key of the installations in \(path), but \(problem); restore the file, or move the whole state "
            + "directory away to start over with new pseudonyms"
    }
}

/// A file of 32 secret bytes that only its owner may read.
private struct KeyFile {
    private static let size = 32

    let path: String

    init(directory: String) {
        path = directory + "/" + InstallationKey.fileName
    }

    /// The key; nil where the file does not exist.
    func load() throws(InstallationKeyError) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw InstallationKeyError(path: path, problem: "it cannot be opened: \(reason(errno))")
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw InstallationKeyError(path: path, problem: "it is a directory or no regular file")
        }
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

    private func reason(_ code: Int32) -> String {
        switch code {
        case ENOTDIR: "its directory is a file"
        case ENOENT: "its directory is missing"
        case EACCES, EPERM: "permission is denied"
        case ENOSPC: "no space is left"
        case ELOOP: "it is a link, which is not followed"
        default: unsafe String(cString: strerror(code))
        }
    }

    /// Writes a temporary file and renames it, so that a crash leaves a whole key or none.
    func create(_ bytes: [UInt8]) throws(InstallationKeyError) {
        let temporary = path + ".new"
        unsafe unlink(temporary)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw InstallationKeyError(path: path, problem: "it cannot be made: \(reason(errno))")
        }
        let written = unsafe write(file, bytes, bytes.count)
        let synced = fsync(file)
        close(file)
        guard written == bytes.count, synced == 0, unsafe rename(temporary, path) == 0 else {
            throw InstallationKeyError(path: path, problem: "it cannot be written: \(reason(errno))")
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
