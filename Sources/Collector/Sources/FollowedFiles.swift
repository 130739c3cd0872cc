// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Which file is read by whom, so that none is read twice under two names.
final class FollowedFiles: Sendable {
    private let paths: [String]
    private let readers = Mutex<[FileIdentity: String]>([:])

    /// - Parameter paths: all that is followed.
    init(_ paths: [String]) {
        self.paths = paths
    }

    /// What stands at the other paths now.
    func others(besides path: String) -> Set<FileIdentity> {
        var identities: Set<FileIdentity> = []
        for other in paths where other != path {
            if case .file(let status) = FileAccess.look(other) { identities.insert(status.identity) }
        }
        return identities
    }

    /// Why a file must not be read for a path: it is read for another one.
    func problem(_ identity: FileIdentity, for path: String) -> FileProblem? {
        guard let reader = readers.withLock({ $0[identity] }), reader != path else { return nil }
        return Self.problem(path, reader)
    }

    /// Takes a file for a path, unless it is read for another one.
    func take(_ identity: FileIdentity, for path: String) throws(FileProblem) {
        let reader = readers.withLock { readers in
            let reader = readers[identity] ?? path
            readers[identity] = reader
            return reader
        }
        if reader != path { throw Self.problem(path, reader) }
    }

    /// A path's reader has closed a file.
    func leave(_ identity: FileIdentity, for path: String) {
        readers.withLock { readers in
            if readers[identity] == path { readers[identity] = nil }
        }
    }

    private static func problem(_ path: String, _ other: String) -> FileProblem {
        FileProblem(description: "cannot follow \(path): it is the same file as \(other), which is followed already")
    }

    /// Two of the paths that are one file: by name, by link or by symbolic link.
    static func twice(_ paths: [String]) -> FileProblem? {
        var names: [String: String] = [:]
        var identities: [FileIdentity: String] = [:]
        for path in paths {
            if let other = names.updateValue(path, forKey: FileAccess.resolved(path)) { return problem(path, other) }
            guard case .file(let status) = FileAccess.look(path) else { continue }
            if let other = identities.updateValue(path, forKey: status.identity) { return problem(path, other) }
        }
        return nil
    }
}
