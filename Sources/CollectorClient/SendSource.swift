// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Hashing
package import LogInput

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Whose events an input has where they name no installation, as a header of each request (docs/ingest-api.md).
struct SendSource: Equatable, Sendable {
    private static let installationHeader = "X-Installation-Id"

    let header: String
    let value: String

    /// All events without an installation are of this one.
    init(_ installation: SendInstallation) {
        header = Self.installationHeader
        value = installation.id
    }

    /// The input is a device of its own, by its path and this host; the rotations of a log are the same one.
    ///
    /// - Parameter path: a file; `-` is standard input.
    init(path: String, host: String = Self.hostName) {
        let name =
            path == InputFile.standardInput
            ? path : URL(fileURLWithPath: LogRotation(path)?.log ?? path).standardizedFileURL.path
        let digest = SHA256Hash.digest(Array("\(host)\n\(name)".utf8))
        header = "X-Source-Id"
        value = String(digest.first, radix: 16) + String(digest.second, radix: 16)
    }

    /// The id of a device that lines of the input name; nil where all of them are of one installation.
    ///
    /// Two phones may have the same name, so the id tells them apart by their files.
    func device(named name: String) -> String? {
        header == Self.installationHeader ? nil : "\(name)@\(value.prefix(16))"
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, 255) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The id of an installation, as `--installation` names it.
package struct SendInstallation: Equatable, Sendable {
    /// The longest id that a collector takes, in bytes.
    private static let longest = 256

    let id: String

    /// - Throws: `InvalidOption` for an id that fits into no header.
    package init(_ id: String) throws(InvalidOption) {
        let isUsable = id.utf8.allSatisfy { $0 >= 0x21 && $0 <= 0x7E }
        guard isUsable, (1...Self.longest).contains(id.utf8.count) else {
            throw InvalidOption("expected 1 to \(Self.longest) characters of printable ASCII without spaces")
        }
        self.id = id
    }
}
