// SPDX-License-Identifier: Apache-2.0

internal import LogInput

/// From one file to the next.
extension FileTail {
    mutating func begin(_ offset: UInt64, _ mark: ContentMark) {
        guard let file = files.first else { return }
        toldOf = nil
        giveUp(file.identity)
        let isNewFile = offset == 0
        self.mark = isNewFile ? ContentMark() : mark
        readOffset = offset
        seenEnd = file.size
        cutter = LineCutter(isSkipping: !isNewFile && position?.isInsideLongLine == true)
        isAtEnd = false
        let isFirst = position == nil
        var next =
            position
            ?? FilePosition(path: path, identity: file.identity, offset: 0, modified: file.modified)
        next.path = path
        next.identity = file.identity
        next.offset = offset
        next.modified = file.modified
        if isNewFile {
            next.fingerprint = 0
            next.isInsideLongLine = false
        }
        position = next
        if isFirst { deliver([]) }
    }

    mutating func reachedEnd() {
        guard files.count > 1, let since = files[0].supersededAt, now - since >= Self.linger else {
            isAtEnd = true
            return
        }
        finishFirst()
    }

    /// Ends the first file, its last line as it is. Before the next one is begun, the directory is searched again: what
    /// waits may have been rotated meanwhile, too.
    mutating func finishFirst() {
        guard let file = files.first else { return }
        var lines: [UInt8] = []
        mark.append(cutter.held)
        cutter.finish(into: &lines)
        position?.offset = readOffset
        let fingerprint = mark.fingerprint(pseudonyms)
        position?.fingerprint = fingerprint
        position?.isInsideLongLine = false
        position?.finish(file.identity, at: readOffset)
        files.removeFirst()
        deliver(lines)
        keep(file.identity)
        search = .next
    }

    /// Begins the next file, once everything that comes before it is open.
    mutating func beginNext() {
        isBetweenFiles = false
        begin(0, ContentMark())
        deliver([])
    }

    /// Puts a file that was opened in its place: behind the one that is being read, by age, and before the path's own.
    mutating func enqueue(_ file: Generation) {
        files.append(file)
        sortWaiting()
    }

    /// Tells of a rotation, which is found again and again while the new file cannot be opened.
    mutating func tellOnce(_ notice: Notice) {
        if let pathIdentity {
            guard toldOf != pathIdentity else { return }
            toldOf = pathIdentity
        }
        notices.append(notice)
    }

    var pathIdentity: FileIdentity? {
        if case .file(let status) = current { status.identity } else { nil }
    }

    mutating func deliver(_ lines: [UInt8]) {
        if let position { ready.append(Chunk(lines: lines, position: position, bytesRead: lines.count)) }
    }

    /// Takes over what the directory tells of the waiting files, and puts them in order again.
    mutating func refresh(_ plan: RotationPlan) {
        for index in files.indices {
            guard let sibling = plan.siblings.first(where: { $0.status.identity == files[index].identity }) else {
                continue
            }
            files[index].modified = sibling.status.modified
            files[index].size = sibling.status.size
        }
        sortWaiting()
    }

    private mutating func sortWaiting() {
        let path = pathIdentity
        files[firstWaiting...].sort { left, right in
            if left.identity == path || right.identity == path {
                return right.identity == path && left.identity != path
            }
            return left.modified < right.modified
        }
    }

    private var firstWaiting: Int { isBetweenFiles ? 0 : min(1, files.count) }

    mutating func afterRotation(_ plan: RotationPlan, _ position: FilePosition, since time: Int64) {
        tellOnce(.rotated)
        if files.count == 1, case .file(let status) = current, status.size >= readOffset,
            plan.isCopy(status.identity, of: position)
        {
            files = []
            targets = [Target(path: path, identity: status.identity, resumed: position)]
        } else {
            followOn(after: time, plan, position)
        }
    }

    /// Everything that was written since a time, and then what stands at the path.
    mutating func followOn(after time: Int64, _ plan: RotationPlan, _ position: FilePosition) {
        var known = Set(files.map(\.identity))
        var isPathNew = false
        if case .file(let status) = current {
            isPathNew = !files.contains { $0.identity == status.identity }
            known.insert(status.identity)
        }
        known.formUnion(targets.map(\.identity))
        known.formUnion(late.map(\.identity))
        for sibling in plan.generations(writtenSince: time, besides: known, after: position).prefix(Self.maximumOpen) {
            targets.append(Target(path: sibling.path, identity: sibling.status.identity))
        }
        if case .file(let status) = current, isPathNew {
            targets.append(Target(path: path, identity: status.identity))
        }
    }

    /// The first file is as new: its rest may stand in a copy, and it is read anew when its turn comes.
    mutating func afterTruncation(_ plan: RotationPlan, _ position: FilePosition) {
        guard var file = files.first else { return }
        notices.append(.truncated)
        let hasUnread = seenEnd > readOffset
        file.supersededAt = nil
        files[0] = file
        isBetweenFiles = true
        sortWaiting()
        let copy = plan.copy(of: position)
        if let copy, copy.status.size > position.offset {
            files.removeAll { $0.identity == copy.status.identity }
            targets = [Target(path: copy.path, identity: copy.status.identity, resumed: position)]
            cutter = LineCutter()
            followOn(after: copy.status.modified, plan, position)
        } else {
            if copy == nil, hasUnread { notices.append(.lostRest) }
            if let copy { self.position?.finish(copy.status.identity, at: copy.status.size) }
            followOn(after: copy?.status.modified ?? position.modified, plan, self.position ?? position)
            var lines: [UInt8] = []
            cutter.finish(into: &lines)
            // Of a file of which no line was taken, the oldest generation now is the copy, with the line that was held.
            if position.offset == 0, targets.contains(where: { $0.path != path }) { lines = [] }
            self.position?.identity = file.identity
            self.position?.offset = 0
            self.position?.fingerprint = 0
            self.position?.isInsideLongLine = false
            if !lines.isEmpty { deliver(lines) }
        }
    }

    /// The file of the position is not where it was: it has another name, or only a copy is left, or nothing.
    mutating func afterLoss(_ plan: RotationPlan, _ position: FilePosition) {
        targets = []
        guard let rest = plan.original(of: position) ?? plan.copy(of: position) else {
            guard case .file = current else { return }
            tellOnce(.lostRest)
            return followOn(after: position.modified, plan, position)
        }
        tellOnce(rest.status.identity == position.identity ? .rotated : .truncated)
        targets = [Target(path: rest.path, identity: rest.status.identity, resumed: position)]
        if rest.status.identity == pathIdentity { return }
        followOn(after: rest.status.modified, plan, position)
    }
}
