// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Decides what to read of a followed file, through every kind of rotation: a pure state machine without I/O or clock.
///
/// The owner observes the path with `look(_:now:)`, then executes the request of `next()` and reports its result, until
/// the request is `rest`. Files are read one after the other. A file that appears at the path is opened at once, so that
/// no later rename or deletion loses it. docs/log-sources.md describes the rotations.
struct FileTail: Sendable {
    private enum Search: Sendable {
        case rotated
        case truncated
        case lost
        /// A file was read to its end; find the next one.
        case next
        /// No rotation; record what lies beside the file.
        case neighbours
    }

    private static let maximumReadBytes = 1 << 20
    /// How long the end of a file is still polled after the next file has lines.
    private static let lingerMicroseconds: Int64 = 1_000_000
    private static let maximumOpenFiles = 64

    private let path: String
    private let name: String
    private let pseudonyms: any Pseudonymising

    /// The end of what was delivered; nil before the first file was found.
    private var position: FilePosition?
    private var files = OpenGenerations()
    private var late = LateGenerations()
    private var neighbours = Neighbours()
    private var notices = FileNotices()
    private var current: PathObservation = .absent
    private var now: Int64 = 0

    /// How far the first of the files is read.
    private var reading = GenerationReading()
    private var isAtEnd = true
    /// Whether the first file is open and its reading has not begun.
    private var isBetweenFiles = false

    private var search: Search?
    private var searchesLeft = 0
    private var hasSearchedWithoutPath = false
    private var targets: [Target] = []
    private var ready: [Chunk] = []
    private var failure = FileFailure()

    /// - Parameters:
    ///   - path: The absolute path to follow.
    ///   - position: Where reading ended the last time; nil to begin with the file as it is.
    init(path: String, position: FilePosition?, pseudonyms: any Pseudonymising) {
        self.path = path
        name = String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
        self.position = position
        self.pseudonyms = pseudonyms
    }

    /// The bytes that are known to follow a stored position.
    func lag(behind stored: FilePosition?) -> UInt64 {
        files.lag(behind: stored, finished: position?.finished ?? [])
    }

    /// The files that the owner must keep open.
    var openIdentities: Set<FileIdentity> { Set(files.identities + late.identities) }

    mutating func takeNotices() -> [Notice] { notices.take() }

    /// The next request to the owner.
    mutating func next() -> Request {
        if !ready.isEmpty { return .deliver(ready.removeFirst()) }
        if let search {
            guard searchesLeft > 0 || search == .next else { return .rest }
            return .survey(offset: position?.offset ?? 0)
        }
        if let target = targets.first { return .open(target) }
        if isBetweenFiles, !files.isEmpty {
            beginNext()
            return next()
        }
        guard !isAtEnd, let file = files.first else {
            if let (identity, offset) = late.next {
                return .read(identity, offset: offset, count: Self.maximumReadBytes)
            }
            guard files.count == 1, !isBetweenFiles, files.first?.identity == pathIdentity,
                neighbours.beginListing(now: now)
            else { return .rest }
            search = .neighbours
            return .survey(offset: 0)
        }
        return .read(file.identity, offset: reading.offset, count: Self.maximumReadBytes - reading.heldBytes)
    }

    /// Takes an observation of the path; `now` is monotonic, in microseconds.
    mutating func look(_ seen: PathObservation, now: Int64) {
        current = seen
        self.now = now
        isAtEnd = false
        searchesLeft = 2
        late.pollAll()
        switch seen {
        case .absent:
            guard files.isEmpty, position != nil, !hasSearchedWithoutPath else { break }
            hasSearchedWithoutPath = true
            search = .lost
        case .refused(let problem): refuse(problem, .look)
        case .file(let status):
            succeeded(.look)
            look(status)
        }
        files.supersede(now: now)
    }

    private mutating func look(_ status: FileStatus) {
        if let last = files.last {
            if last.identity == status.identity {
                if status.size < last.size, files.count == 1, reading.offset == 0, search == nil { search = .truncated }
                files.setLastSize(status.size)
            } else if search == nil, failure.mayRetry(at: now), files.count < Self.maximumOpenFiles {
                search = .rotated
            }
            return
        }
        guard failure.mayRetry(at: now) else { return }
        guard let position else {
            targets = [Target(path: path, identity: status.identity)]
            return
        }
        if position.offset == 0 {
            // Nothing of its content is known, so it may have been rotated before anything was read.
            search = .next
        } else if position.identity == status.identity {
            targets = [Target(path: path, identity: status.identity, resumed: position)]
        } else {
            search = .lost
        }
    }

    /// Takes the listing of the directory; empty where listing failed.
    mutating func surveyed(_ siblings: [Sibling]) {
        guard let search, let position else { return }
        self.search = nil
        if search == .neighbours { return listedNeighbours(siblings) }
        neighbours.discardListing()
        if search != .next { searchesLeft -= 1 }
        let plan = RotationPlan(base: name, siblings: siblings, neighbours: neighbours)
        let lastWritten = files.last?.modified
        files.refresh(siblings, isFirstBegun: !isBetweenFiles, path: pathIdentity)
        switch search {
        case .rotated: afterRotation(plan, position, since: lastWritten ?? position.modified)
        case .truncated: afterTruncation(plan, position)
        case .lost: afterLoss(plan, position)
        case .next:
            isBetweenFiles = true
            followOn(after: position.modified, plan, position)
        case .neighbours: break
        }
    }

    /// Takes an opened file, with the content before the target's offset.
    mutating func opened(_ status: FileStatus, mark found: ContentMark) {
        guard let target = targets.first else { return }
        targets.removeFirst()
        if let resumed = target.resumed {
            guard status.size >= resumed.offset, found.fingerprint(pseudonyms) == resumed.fingerprint else {
                targets = []
                search = .lost
                return
            }
        }
        succeeded(.open)
        failure.retryAtOnce()
        let file = Generation(identity: status.identity, size: status.size, modified: status.modified)
        if let resumed = target.resumed {
            isBetweenFiles = false
            files.insertFirst(file)
            begin(resumed.offset, found)
        } else {
            files.enqueue(file, isFirstBegun: !isBetweenFiles, path: pathIdentity)
            if files.count == 1, !isBetweenFiles { begin(0, found) }
        }
    }

    /// A file could not be opened; without a problem, it was renamed or deleted meanwhile.
    mutating func failedToOpen(_ problem: FileProblem?) {
        guard let target = targets.first else { return }
        targets.removeFirst()
        let isPath = target.path == path
        if let problem {
            refuse(problem, .open)
            if isPath { targets = [] } else { notices.append(.lostRest) }
        } else if !isPath {
            targets = []
            search = files.isEmpty ? .lost : .rotated
        }
    }

    /// Takes what was read of the first file, or of a late generation.
    mutating func took(_ seen: ReadObservation, of identity: FileIdentity) {
        if files.first?.identity != identity {
            if let rest = late.took(seen, of: identity) { deliver(rest) }
            return
        }
        guard var position else { return }
        succeeded(.read)
        guard reading.isUnchanged(in: seen) else {
            search = .truncated
            return
        }
        files.setFirst(size: seen.status.size, modified: seen.status.modified)
        reading.seenEnd = seen.status.size
        guard !seen.bytes.isEmpty else {
            self.position?.modified = seen.status.modified
            return reachedEnd()
        }
        let lines = reading.take(seen.bytes, &position, pseudonyms)
        position.modified = seen.status.modified
        self.position = position
        if let lines { ready.append(Chunk(lines: lines, position: position, bytesRead: seen.bytes.count)) }
    }

    /// A file could not be read.
    mutating func failedToRead(_ problem: FileProblem, of identity: FileIdentity) {
        if files.first?.identity != identity {
            notices.append(.lostRest)
            if let rest = late.remove(identity) { deliver(rest) }
            return
        }
        refuse(problem, .read)
        isAtEnd = true
    }

    private mutating func refuse(_ problem: FileProblem, _ call: FileFailure.Call) {
        if failure.note(problem, of: call, now: now) { notices.append(.refused(problem)) }
    }

    private mutating func succeeded(_ call: FileFailure.Call) {
        if failure.end(of: call) { notices.append(.readable) }
    }

    /// Records the siblings while no rotation is in progress, and notices generations that have grown unread.
    private mutating func listedNeighbours(_ siblings: [Sibling]) {
        let name = RotationName(of: name)
        let open = openIdentities
        let others = siblings.filter { name.isGeneration($0.name) && !open.contains($0.status.identity) }
        for sibling in others {
            let identity = sibling.status.identity
            guard
                let end = position?.finished.first(where: { $0.identity == identity })?.end,
                sibling.status.size > end
            else { continue }
            notices.append(.grown)
            position?.finish(identity, at: sibling.status.size)
        }
        neighbours.listed(others, now: now)
    }

    private mutating func begin(_ offset: UInt64, _ mark: ContentMark) {
        guard let file = files.first else { return }
        notices.beginFile()
        if let rest = late.remove(file.identity) { deliver(rest) }
        let isNewFile = offset == 0
        reading = GenerationReading(
            at: offset,
            after: isNewFile ? ContentMark() : mark,
            size: file.size,
            isInsideLongLine: !isNewFile && position?.isInsideLongLine == true
        )
        isAtEnd = false
        let isFirst = position == nil
        var next =
            position
            ?? FilePosition(path: path, identity: file.identity, offset: 0, modified: file.modified)
        next.path = path
        next.identity = file.identity
        next.modified = file.modified
        if isNewFile { next.startOver() } else { next.offset = offset }
        position = next
        if isFirst { deliver([]) }
    }

    private mutating func beginNext() {
        isBetweenFiles = false
        begin(0, ContentMark())
        deliver([])
    }

    private mutating func reachedEnd() {
        guard files.count > 1, let since = files.first?.supersededAt, now - since >= Self.lingerMicroseconds else {
            isAtEnd = true
            return
        }
        finishFirst()
    }

    /// Finishes the first file, its last line as it is, and searches the directory before the next file begins: files
    /// that wait may have been rotated meanwhile.
    private mutating func finishFirst() {
        guard let file = files.first else { return }
        let lines = reading.finish()
        position?.offset = reading.offset
        let fingerprint = reading.mark.fingerprint(pseudonyms)
        position?.fingerprint = fingerprint
        position?.isInsideLongLine = false
        position?.finish(file.identity, at: reading.offset)
        files.removeFirst()
        deliver(lines)
        for rest in late.keep(file.identity, readTo: reading.offset, reading.mark, now: now) { deliver(rest) }
        search = .next
    }

    private mutating func deliver(_ lines: [UInt8]) {
        if let position { ready.append(Chunk(lines: lines, position: position, bytesRead: lines.count)) }
    }

    private mutating func deliver(_ rest: LateGenerations.Rest) {
        position?.finish(rest.identity, at: rest.end)
        deliver(rest.lines)
    }

    private var pathIdentity: FileIdentity? {
        if case .file(let status) = current { status.identity } else { nil }
    }

    private mutating func afterRotation(_ plan: RotationPlan, _ position: FilePosition, since time: Int64) {
        notices.appendOnce(.rotated, of: pathIdentity)
        if files.count == 1, case .file(let status) = current, status.size >= reading.offset,
            plan.isCopy(status.identity, of: position)
        {
            files = OpenGenerations()
            targets = [Target(path: path, identity: status.identity, resumed: position)]
        } else {
            followOn(after: time, plan, position)
        }
    }

    /// Opens every generation that was written since a time, and then the file at the path.
    private mutating func followOn(after time: Int64, _ plan: RotationPlan, _ position: FilePosition) {
        var known = Set(files.identities + targets.map(\.identity) + late.identities)
        var newAtPath: FileIdentity?
        if let pathIdentity {
            if !files.identities.contains(pathIdentity) { newAtPath = pathIdentity }
            known.insert(pathIdentity)
        }
        let generations = plan.generations(writtenSince: time, besides: known, after: position)
        for sibling in generations.prefix(Self.maximumOpenFiles) {
            targets.append(Target(path: sibling.path, identity: sibling.status.identity))
        }
        if let newAtPath { targets.append(Target(path: path, identity: newAtPath)) }
    }

    /// Starts the first file over once its turn comes; its unread rest may be in a copy (copytruncate).
    private mutating func afterTruncation(_ plan: RotationPlan, _ position: FilePosition) {
        guard let file = files.first else { return }
        notices.append(.truncated)
        let hasUnread = reading.seenEnd > reading.offset
        isBetweenFiles = true
        files.restartFirst(path: pathIdentity)
        let copy = plan.copy(of: position)
        if let copy, copy.status.size > position.offset {
            files.remove(copy.status.identity)
            targets = [Target(path: copy.path, identity: copy.status.identity, resumed: position)]
            _ = reading.takeHeld()
            followOn(after: copy.status.modified, plan, position)
        } else {
            if copy == nil, hasUnread { notices.append(.lostRest) }
            if let copy { self.position?.finish(copy.status.identity, at: copy.status.size) }
            followOn(after: copy?.status.modified ?? position.modified, plan, self.position ?? position)
            var lines = reading.takeHeld()
            // If no line of the file was taken, the oldest generation now is the copy, with the line that was held.
            if position.offset == 0, targets.contains(where: { $0.path != path }) { lines = [] }
            self.position?.identity = file.identity
            self.position?.startOver()
            if !lines.isEmpty { deliver(lines) }
        }
    }

    /// The position's file is no longer at the path: it was renamed, only a copy is left, or nothing.
    private mutating func afterLoss(_ plan: RotationPlan, _ position: FilePosition) {
        targets = []
        guard let rest = plan.original(of: position) ?? plan.copy(of: position) else {
            guard case .file = current else { return }
            notices.appendOnce(.lostRest, of: pathIdentity)
            return followOn(after: position.modified, plan, position)
        }
        notices.appendOnce(rest.status.identity == position.identity ? .rotated : .truncated, of: pathIdentity)
        targets = [Target(path: rest.path, identity: rest.status.identity, resumed: position)]
        if rest.status.identity == pathIdentity { return }
        followOn(after: rest.status.modified, plan, position)
    }
}
