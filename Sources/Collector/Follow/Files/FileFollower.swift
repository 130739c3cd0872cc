// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Follows one file: does what its tail asks for. All calls block for as long as the disk takes.
struct FileFollower: Sendable {
    let path: String
    private(set) var tail: FileTail
    private let pseudonyms: any Pseudonymising
    private var files: [FileIdentity: OpenFile] = [:]
    /// How often something could not be read.
    private(set) var failures: UInt64 = 0

    init(path: String, position: FilePosition?, pseudonyms: any Pseudonymising) {
        self.path = path
        self.pseudonyms = pseudonyms
        tail = FileTail(path: path, position: position, pseudonyms: pseudonyms)
    }

    /// Looks at the path; call it when `next()` has nothing more, and again after a while.
    mutating func look(now: Int64) {
        let seen = FileAccess.look(path)
        if case .refused = seen { failures += 1 }
        tail.look(seen, now: now)
    }

    /// The next lines; nil when there are none until the next look.
    mutating func next() -> FileTail.Chunk? {
        while true {
            switch tail.next() {
            case .deliver(let chunk): return chunk
            case .survey(let offset): tail.surveyed(FileAccess.survey(path, offset: offset, pseudonyms))
            case .open(let target): open(target)
            case .read(let identity, let offset, let count): read(identity, offset, count)
            case .rest: return nil
            }
            if files.count > tail.files.count {
                let needed = Set(tail.files.map(\.identity))
                files = files.filter { needed.contains($0.key) }
            }
        }
    }

    private mutating func open(_ target: FileTail.Target) {
        do throws(FileProblem) {
            guard let (file, status) = try FileAccess.open(target.path, target.identity) else {
                return tail.failedToOpen(nil)
            }
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
            tail.took(try FileAccess.read(file, at: offset, count: count))
        } catch {
            failures += 1
            tail.failedToRead(error)
        }
    }

    mutating func takeNotices() -> [FileTail.Notice] { tail.takeNotices() }
}
