// SPDX-License-Identifier: Apache-2.0

/// From one file to the next.
extension FileTail {
    mutating func begin(_ offset: UInt64, _ mark: ContentMark) {
        guard let file = files.first else { return }
        let isNewFile = offset == 0
        self.mark = isNewFile ? ContentMark() : mark
        readOffset = offset
        cutter = LineCutter(isSkipping: !isNewFile && position?.isInsideLongLine == true)
        isAtEnd = false
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
    }

    mutating func reachedEnd() {
        guard files.count > 1, let since = files[0].supersededAt, now - since >= Self.linger else {
            isAtEnd = true
            return
        }
        finishFirst()
    }

    /// Ends the first file, its last line as it is, and goes on with the next one.
    mutating func finishFirst() {
        guard let file = files.first else { return }
        var lines: [UInt8] = []
        cutter.finish(into: &lines)
        position?.finish(file.identity, at: readOffset)
        files.removeFirst()
        begin(0, ContentMark())
        deliver(lines)
    }

    mutating func deliver(_ lines: [UInt8]) {
        if let position { ready.append(Chunk(lines: lines, position: position, bytesRead: lines.count)) }
    }

    mutating func wasTruncated() {
        if files.count > 1 {
            notices.append(.lostRest)
            return finishFirst()
        }
        search = .truncated
    }

    mutating func afterRotation(_ plan: RotationPlan, _ position: FilePosition) {
        notices.append(.rotated)
        if files.count == 1, case .file(let status) = current, status.size >= readOffset,
            plan.isCopy(status.identity, of: position)
        {
            files = []
            targets = [target(path, status.identity, from: position)]
        } else {
            followOn(after: files.last?.modified ?? position.modified, plan, position)
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
        for sibling in plan.generations(writtenSince: time, besides: known, after: position).prefix(Self.maximumOpen) {
            targets.append(Target(path: sibling.path, identity: sibling.status.identity))
        }
        if case .file(let status) = current, isPathNew {
            targets.append(Target(path: path, identity: status.identity))
        }
    }

    /// The file is as new: its rest may stand in a copy.
    mutating func afterTruncation(_ plan: RotationPlan, _ position: FilePosition) {
        notices.append(.truncated)
        let held = cutter.held
        let hasUnread = files.first.map { $0.size > readOffset } ?? false
        files = []
        targets = []
        if let copy = plan.copy(of: position), copy.status.size > position.offset {
            cutter = LineCutter()
            targets.append(target(copy.path, copy.status.identity, from: position))
            followOn(after: copy.status.modified, plan, position)
        } else {
            var lines: [UInt8] = []
            cutter.finish(into: &lines)
            let copy = plan.copy(of: position)
            if let copy { self.position?.finish(copy.status.identity, at: copy.status.size) }
            if copy == nil, hasUnread { notices.append(.lostRest) }
            followOn(after: copy?.status.modified ?? position.modified, plan, self.position ?? position)
            self.position?.offset = 0
            self.position?.fingerprint = 0
            self.position?.isInsideLongLine = false
            if !held.isEmpty { deliver(lines) }
        }
    }

    /// The file of the position is not where it was: it has another name, or only a copy is left, or nothing.
    mutating func afterLoss(_ plan: RotationPlan, _ position: FilePosition) {
        targets = []
        guard let rest = plan.original(of: position) ?? plan.copy(of: position) else {
            guard case .file = current else { return }
            notices.append(.lostRest)
            return followOn(after: position.modified, plan, position)
        }
        notices.append(rest.status.identity == position.identity ? .rotated : .truncated)
        targets = [target(rest.path, rest.status.identity, from: position)]
        if case .file(let status) = current, status.identity == rest.status.identity { return }
        followOn(after: rest.status.modified, plan, position)
    }
}
