// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

extension Listener {
    /// Whether only one of two listeners can listen: an address of one is among those of the other at the same port, or
    /// both are one path that is written in two ways. Where they are written alike they are named twice.
    func overlaps(_ other: Listener) -> Bool {
        switch (endpoint, other.endpoint) {
        case (.address(let host, let port), .address(let otherHost, let otherPort))
        where port != 0 && port == otherPort && host != otherHost:
            // On free ports, since the service that is checked for may be running, and on two, since one may be taken.
            (0..<2).allSatisfy { _ in Self.excludeEachOther(host, otherHost) }
        case (.unix(let path, _, _), .unix(let otherPath, _, _)) where path != otherPath:
            Self.areSame(path, otherPath)
        default: false
        }
    }

    private static func excludeEachOther(_ host: String, _ otherHost: String) -> Bool {
        guard let first = try? ListeningSockets.open([Listener(.address(host: host, port: 0))]) else { return false }
        defer { for socket in first { socket.close() } }
        guard case .internet(_, let free) = first.first?.place else { return false }
        guard let second = try? ListeningSockets.open([Listener(.address(host: otherHost, port: free))]) else {
            return true
        }
        for socket in second { socket.close() }
        return false
    }

    /// Whether two paths are the same name in the same directory.
    private static func areSame(_ path: String, _ other: String) -> Bool {
        let (names, otherNames) = (path.split(separator: "/"), other.split(separator: "/"))
        guard let name = names.last, name == otherNames.last else { return false }
        var (directory, otherDirectory) = (stat(), stat())
        guard unsafe stat("/" + names.dropLast().joined(separator: "/"), &directory) == 0,
            unsafe stat("/" + otherNames.dropLast().joined(separator: "/"), &otherDirectory) == 0
        else { return false }
        return directory.st_dev == otherDirectory.st_dev && directory.st_ino == otherDirectory.st_ino
    }
}
