// SPDX-License-Identifier: Apache-2.0

internal import LogInput

/// What the owner reports.
extension FileTail {
    /// The path was looked at; the time is any that only goes on, in microseconds.
    mutating func look(_ seen: PathObservation, now: Int64) {
        current = seen
        self.now = now
        isAtEnd = false
        searchesLeft = 2
        lateToRead = late.map(\.identity)
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
        for index in files.indices.dropLast() where files[index].supersededAt == nil {
            if files[(index + 1)...].contains(where: { $0.size > 0 }) { files[index].supersededAt = now }
        }
    }

    private mutating func look(_ status: FileStatus) {
        if let last = files.indices.last {
            if files[last].identity == status.identity {
                if status.size < files[last].size, files.count == 1, readOffset == 0, search == nil {
                    search = .truncated
                }
                files[last].size = status.size
            } else if search == nil, now >= retryAt, files.count < Self.maximumOpen {
                search = .rotated
            }
            return
        }
        guard now >= retryAt else { return }
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

    /// The directory was listed; empty where that failed.
    mutating func surveyed(_ siblings: [Sibling]) {
        guard let search, let position else { return }
        if search == .neighbours {
            self.search = nil
            return listed(siblings)
        }
        listed = nil
        neighboursDue = .min
        if search != .next { searchesLeft -= 1 }
        self.search = nil
        let plan = RotationPlan(base: name, siblings: siblings, neighbours: neighbours)
        let lastWritten = files.last?.modified
        refresh(plan)
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

    /// A file was opened, with what stands before the target's offset.
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
        retryAt = .min
        let file = Generation(identity: status.identity, size: status.size, modified: status.modified)
        if let resumed = target.resumed {
            isBetweenFiles = false
            files.insert(file, at: 0)
            begin(resumed.offset, found)
        } else {
            enqueue(file)
            if files.count == 1, !isBetweenFiles { begin(0, found) }
        }
    }

    /// A file could not be opened: it has gone meanwhile, or there is a problem.
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

    /// A file was read: the first one, or one that is kept open behind its end.
    mutating func took(_ seen: ReadObservation, of identity: FileIdentity) {
        if files.first?.identity != identity { return tookLate(seen, identity) }
        guard !files.isEmpty, var position else { return }
        succeeded(.read)
        let isSame =
            seen.status.size >= readOffset + UInt64(seen.bytes.count) && seen.mark == mark.appending(cutter.held)
        guard isSame else {
            search = .truncated
            return
        }
        files[0].size = seen.status.size
        seenEnd = seen.status.size
        files[0].modified = seen.status.modified
        guard !seen.bytes.isEmpty else {
            self.position?.modified = seen.status.modified
            return reachedEnd()
        }
        let before = cutter.held
        var lines: [UInt8] = []
        cutter.cut(seen.bytes, into: &lines)
        readOffset += UInt64(seen.bytes.count)
        let consumed = before.count + seen.bytes.count - cutter.held.count
        mark.append(before.prefix(consumed))
        mark.append(seen.bytes.prefix(max(0, consumed - before.count)))
        position.offset = readOffset - UInt64(cutter.held.count)
        position.fingerprint = mark.fingerprint(pseudonyms)
        position.modified = seen.status.modified
        position.isInsideLongLine = cutter.isSkipping
        self.position = position
        if consumed > 0 { ready.append(Chunk(lines: lines, position: position, bytesRead: seen.bytes.count)) }
    }

    /// A file could not be read.
    mutating func failedToRead(_ problem: FileProblem, of identity: FileIdentity) {
        if files.first?.identity != identity {
            notices.append(.lostRest)
            return giveUp(identity)
        }
        refuse(problem, .read)
        isAtEnd = true
    }

    private mutating func refuse(_ problem: FileProblem, _ call: Call) {
        retryAt = now + Self.retryPause
        if self.problem?.problem != problem { notices.append(.refused(problem)) }
        self.problem = (problem, call)
    }

    /// Ends the problem of a call that works again.
    private mutating func succeeded(_ call: Call) {
        guard let problem, problem.call == call else { return }
        self.problem = nil
        retryAt = .min
        notices.append(.readable)
    }
}
