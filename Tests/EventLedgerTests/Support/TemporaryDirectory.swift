// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A directory that goes away with the value that owns it.
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
        try? Program.run("/bin/rm", "-rf", path)
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
