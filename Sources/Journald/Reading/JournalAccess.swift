// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Checks that this process may read a journal's files.
///
/// libsystemd skips files that it may not open and reports success, so a reader without permission sees an empty
/// journal. The check tests the files themselves, because membership of a group is only one way to get access.
enum JournalAccess {
    /// The maximum number of a directory's files to check.
    private static let maximumFiles = 4_096

    /// - Throws: ``JournalReaderError/permission(path:user:)`` when there are files and none that holds this process's
    ///   own entries is readable.
    static func check(_ location: JournalLocation) throws(JournalReaderError) {
        let user = geteuid()
        guard user != 0 else { return }
        for directory in directories(of: location) {
            guard exists(directory) else { continue }
            guard let names = names(in: directory) else { throw .permission(path: directory, user: user) }
            let journals = names.filter { $0.hasSuffix(".journal") }
            let own = journals.filter { $0 == "system.journal" || $0 == "user-\(user).journal" }
            let needed = own.isEmpty ? journals : own
            guard let first = needed.first, !needed.contains(where: { isReadable("\(directory)/\($0)") }) else {
                continue
            }
            throw .permission(path: "\(directory)/\(first)", user: user)
        }
    }

    private static func directories(of location: JournalLocation) -> [String] {
        let suffix: String
        switch location {
        case .directory(let path): return [path]
        case .machine: suffix = ""
        case .namespace(let name): suffix = ".\(name)"
        }
        guard let machine = ID128.machine() else { return [] }
        return ["/var/log/journal/\(machine)\(suffix)", "/run/log/journal/\(machine)\(suffix)"]
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private static func isReadable(_ path: String) -> Bool {
        unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0
    }

    private static func names(in directory: String) -> [String]? {
        guard let stream = unsafe opendir(directory) else { return nil }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while names.count < maximumFiles, let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }
}
