// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Follows one file: does what its tail asks for. All calls block for as long as the disk takes.
struct FileFollower: Sendable {
    let path: String
    private(set) var tail: FileTail
    private let pseudonyms: any Pseudonymising
    private let followed: FollowedFiles
    private var files: [FileIdentity: OpenFile] = [:]
    /// How often something could not be read.
    private(set) var failures: UInt64 = 0

    /// - Parameter followed: all that is followed with it.
    init(path: String, position: FilePosition?, pseudonyms: any Pseudonymising, followed: FollowedFiles) {
        self.path = path
        self.followed = followed
        self.pseudonyms = pseudonyms
        tail = FileTail(path: path, position: position, pseudonyms: pseudonyms)
    }

    /// Looks at the path; call it when `next()` has nothing more, and again after a while.
    mutating func look(now: Int64) {
        var seen = FileAccess.look(path)
        if case .file(let status) = seen, let problem = followed.problem(status.identity, for: path) {
            seen = .refused(problem)
        }
        if case .refused = seen { failures += 1 }
        tail.look(seen, now: now)
    }

    /// The next lines; nil when there are none until the next look.
    mutating func next() -> FileTail.Chunk? {
        while true {
            switch tail.next() {
            case .deliver(let chunk): return chunk
            case .survey(let offset): survey(offset)
            case .open(let target): open(target)
            case .read(let identity, let offset, let count): read(identity, offset, count)
            case .rest: return nil
            }
            let needed = tail.openIdentities
            for identity in files.keys where !needed.contains(identity) {
                files[identity] = nil
                followed.leave(identity, for: path)
            }
        }
    }

    private mutating func survey(_ offset: UInt64) {
        let others = followed.others(besides: path)
        let siblings = FileAccess.survey(path, offset: offset, pseudonyms)
        tail.surveyed(siblings.filter { !others.contains($0.status.identity) })
    }

    private mutating func open(_ target: FileTail.Target) {
        do throws(FileProblem) {
            guard let (file, status) = try FileAccess.open(target.path, target.identity) else {
                return tail.failedToOpen(nil)
            }
            try followed.take(target.identity, for: path)
            let mark = try FileAccess.mark(file, before: target.resumed?.offset ?? 0)
            files[target.identity] = file
            tail.opened(status, mark: mark)
        } catch {
            failures += 1
            tail.failedToOpen(error)
        }
    }

    private mutating func read(_ identity: FileIdentity, _ offset: UInt64, _ count: Int) {
        do throws(FileProblem) {
            guard let file = files[identity] else { throw FileProblem(description: "\(path) is not open") }
            tail.took(try FileAccess.read(file, at: offset, count: count), of: identity)
        } catch {
            failures += 1
            tail.failedToRead(error, of: identity)
        }
    }

    mutating func takeNotices() -> [FileTail.Notice] { tail.takeNotices() }
}
