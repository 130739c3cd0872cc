// SPDX-License-Identifier: Apache-2.0

import Glibc

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
