// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents

/// A file that is open: the one at the followed path, or a rotated one.
struct Generation: Sendable {
    var identity: FileIdentity
    var size: UInt64
    var modified: Int64
    /// Since when a later file holds lines, so that nobody should write to this one any more; monotonic microseconds.
    var supersededAt: Int64?
}

/// The open generations in the order in which they are read: the first is being read, the last is at the path.
struct OpenGenerations: Sendable {
    private var all: [Generation] = []

    var first: Generation? { all.first }
    var last: Generation? { all.last }
    var count: Int { all.count }
    var isEmpty: Bool { all.isEmpty }
    var identities: [FileIdentity] { all.map(\.identity) }

    /// The bytes that follow a stored position in finished and open generations.
    func lag(behind stored: FilePosition?, finished: [FilePosition.Finished]) -> UInt64 {
        let open = all.reduce(0) { $0 + $1.size }
        guard let stored else { return open }
        if let file = all.first(where: { $0.identity == stored.identity }) {
            return open - min(file.size, stored.offset)
        }
        guard let index = finished.firstIndex(where: { $0.identity == stored.identity }) else { return open }
        let read = finished[index...].reduce(0) { $0 + $1.end }
        return open + read - min(read, stored.offset)
    }

    mutating func insertFirst(_ file: Generation) { all.insert(file, at: 0) }
    mutating func removeFirst() { all.removeFirst() }
    mutating func remove(_ identity: FileIdentity) { all.removeAll { $0.identity == identity } }

    mutating func setFirst(size: UInt64, modified: Int64) {
        guard !all.isEmpty else { return }
        all[0].size = size
        all[0].modified = modified
    }

    mutating func setLastSize(_ size: UInt64) {
        guard let last = all.indices.last else { return }
        all[last].size = size
    }

    /// Adds a generation among those that wait, by age; the path's own is the last.
    mutating func enqueue(_ file: Generation, isFirstBegun: Bool, path: FileIdentity?) {
        all.append(file)
        sortWaiting(isFirstBegun: isFirstBegun, path: path)
    }

    /// Makes the first generation, which was truncated, wait like the others.
    mutating func restartFirst(path: FileIdentity?) {
        guard !all.isEmpty else { return }
        all[0].supersededAt = nil
        sortWaiting(isFirstBegun: false, path: path)
    }

    /// Updates sizes and times from a listing of the directory, and restores the order.
    mutating func refresh(_ siblings: [Sibling], isFirstBegun: Bool, path: FileIdentity?) {
        for index in all.indices {
            guard let sibling = siblings.first(where: { $0.status.identity == all[index].identity }) else { continue }
            all[index].modified = sibling.status.modified
            all[index].size = sibling.status.size
        }
        sortWaiting(isFirstBegun: isFirstBegun, path: path)
    }

    /// Notes the time from which on a later generation has lines.
    mutating func supersede(now: Int64) {
        for index in all.indices.dropLast() where all[index].supersededAt == nil {
            if all[(index + 1)...].contains(where: { $0.size > 0 }) { all[index].supersededAt = now }
        }
    }

    private mutating func sortWaiting(isFirstBegun: Bool, path: FileIdentity?) {
        all[(isFirstBegun ? min(1, all.count) : 0)...].sort { left, right in
            if left.identity == path || right.identity == path {
                return right.identity == path && left.identity != path
            }
            return left.modified < right.modified
        }
    }
}

/// How far a generation is read: the offset of the next read, and the beginning of a line that is held.
struct GenerationReading: Sendable {
    private(set) var offset: UInt64 = 0
    /// The content before the held bytes.
    private(set) var mark = ContentMark()
    private var cutter = LineCutter()
    /// The size that was seen last while the content was still the same.
    var seenEnd: UInt64 = 0

    init() {}

    init(at offset: UInt64, after mark: ContentMark, size: UInt64, isInsideLongLine: Bool) {
        self.offset = offset
        self.mark = mark
        seenEnd = size
        cutter = LineCutter(isSkipping: isInsideLongLine)
    }

    var heldBytes: Int { cutter.held.count }

    /// Whether a read at the offset found what was read before it unchanged.
    func isUnchanged(in seen: ReadObservation) -> Bool {
        seen.status.size >= offset + UInt64(seen.bytes.count) && seen.mark == mark.appending(cutter.held)
    }

    /// Cuts bytes into lines and advances the position; nil if they only continue the line that is held.
    mutating func take(
        _ bytes: [UInt8],
        _ position: inout FilePosition,
        _ pseudonyms: any Pseudonymising
    ) -> [UInt8]? {
        let before = cutter.held
        var lines: [UInt8] = []
        cutter.cut(bytes, into: &lines)
        offset += UInt64(bytes.count)
        let consumed = before.count + bytes.count - cutter.held.count
        mark.append(before.prefix(consumed))
        mark.append(bytes.prefix(max(0, consumed - before.count)))
        position.offset = offset - UInt64(cutter.held.count)
        position.fingerprint = mark.fingerprint(pseudonyms)
        position.isInsideLongLine = cutter.isSkipping
        return consumed > 0 ? lines : nil
    }

    /// Finishes the generation; the result is its last line, which has no line feed.
    mutating func finish() -> [UInt8] {
        mark.append(cutter.held)
        return takeHeld()
    }

    /// Takes the held line as it is.
    mutating func takeHeld() -> [UInt8] {
        var lines: [UInt8] = []
        cutter.finish(into: &lines)
        return lines
    }
}

/// Generations that were read to their end and stay open for a while, since writers may still append to them.
struct LateGenerations: Sendable {
    /// Whole lines that were appended late, with the end of what was read of the generation.
    struct Rest: Sendable {
        var identity: FileIdentity
        var lines: [UInt8]
        var end: UInt64
    }

    private struct File: Sendable {
        var identity: FileIdentity
        var offset: UInt64
        /// The content before the offset.
        var mark: ContentMark
        var cutter = LineCutter()
        /// When the end was reached; monotonic microseconds.
        var finishedAt: Int64
    }

    /// How long generations stay open after their end; the last one does until the next rotation.
    private static let lifetimeMicroseconds: Int64 = 60_000_000

    private var files: [File] = []
    private var toPoll: [FileIdentity] = []

    var identities: [FileIdentity] { files.map(\.identity) }

    /// The next generation to read, and from where; nil when all were polled.
    var next: (identity: FileIdentity, offset: UInt64)? {
        guard let identity = toPoll.first, let file = files.first(where: { $0.identity == identity }) else {
            return nil
        }
        return (identity, file.offset)
    }

    /// Starts to poll all of them once.
    mutating func pollAll() { toPoll = identities }

    /// Keeps a generation whose end was reached, and drops the expired ones.
    mutating func keep(_ identity: FileIdentity, readTo offset: UInt64, _ mark: ContentMark, now: Int64) -> [Rest] {
        files.removeAll { $0.identity == identity }
        files.append(File(identity: identity, offset: offset, mark: mark, finishedAt: now))
        var rests: [Rest] = []
        while let first = files.first, files.count > 1,
            files.count > FilePosition.maximumFinished || now - first.finishedAt >= Self.lifetimeMicroseconds
        {
            if let rest = remove(first.identity) { rests.append(rest) }
        }
        return rests
    }

    /// Drops a generation; the result is the line that was held, if there is one.
    mutating func remove(_ identity: FileIdentity) -> Rest? {
        guard let index = files.firstIndex(where: { $0.identity == identity }) else { return nil }
        var file = files.remove(at: index)
        toPoll.removeAll { $0 == identity }
        var lines: [UInt8] = []
        file.cutter.finish(into: &lines)
        return lines.isEmpty ? nil : Rest(identity: identity, lines: lines, end: file.offset)
    }

    /// Takes what was read of a generation; one whose content has changed is dropped.
    mutating func took(_ seen: ReadObservation, of identity: FileIdentity) -> Rest? {
        guard let index = files.firstIndex(where: { $0.identity == identity }) else { return nil }
        let end = files[index].offset + UInt64(seen.bytes.count)
        guard seen.status.size >= end, seen.mark == files[index].mark else { return remove(identity) }
        guard !seen.bytes.isEmpty else {
            toPoll.removeAll { $0 == identity }
            return nil
        }
        var lines: [UInt8] = []
        files[index].cutter.cut(seen.bytes, into: &lines)
        files[index].mark.append(seen.bytes)
        files[index].offset = end
        if lines.isEmpty { return nil }
        return Rest(identity: identity, lines: lines, end: end - UInt64(files[index].cutter.held.count))
    }
}
