// SPDX-License-Identifier: Apache-2.0

internal import LogInput

/// What is still written to generations that were read to their end.
extension FileTail {
    /// A generation that was read to its end and is kept open.
    struct Late: Sendable {
        var identity: FileIdentity
        var offset: UInt64
        var mark: ContentMark
        var cutter = LineCutter()
        /// When its end was reached.
        var finishedAt: Int64
    }

    /// How long generations are kept open behind their end; the last one is until the next rotation. In microseconds.
    static let lateness: Int64 = 60_000_000

    mutating func keep(_ identity: FileIdentity) {
        let file = Late(identity: identity, offset: readOffset, mark: mark, finishedAt: now)
        late.removeAll { $0.identity == identity }
        late.append(file)
        while let first = late.first, late.count > 1,
            late.count > FilePosition.maximumFinished || now - first.finishedAt >= Self.lateness
        {
            giveUp(first.identity)
        }
    }

    /// Forgets an old generation, and hands on what was held of its last line.
    mutating func giveUp(_ identity: FileIdentity) {
        guard let index = late.firstIndex(where: { $0.identity == identity }) else { return }
        var lines: [UInt8] = []
        late[index].cutter.finish(into: &lines)
        if !lines.isEmpty {
            position?.finish(identity, at: late[index].offset)
            deliver(lines)
        }
        late.remove(at: index)
        lateToRead.removeAll { $0 == identity }
    }

    /// The next old generation to look at.
    var nextLate: Request? {
        guard let identity = lateToRead.first, let file = late.first(where: { $0.identity == identity }) else {
            return nil
        }
        return .read(identity, offset: file.offset, count: Self.chunkBytes)
    }

    /// An old generation was read; one that has other content by now is given up.
    mutating func tookLate(_ seen: ReadObservation, _ identity: FileIdentity) {
        guard let index = late.firstIndex(where: { $0.identity == identity }) else { return }
        let end = late[index].offset + UInt64(seen.bytes.count)
        guard seen.status.size >= end, seen.mark == late[index].mark else { return giveUp(identity) }
        guard !seen.bytes.isEmpty else {
            lateToRead.removeAll { $0 == identity }
            return
        }
        var lines: [UInt8] = []
        late[index].cutter.cut(seen.bytes, into: &lines)
        late[index].mark.append(seen.bytes)
        late[index].offset = end
        guard !lines.isEmpty else { return }
        position?.finish(identity, at: end - UInt64(late[index].cutter.held.count))
        if let position { ready.append(Chunk(lines: lines, position: position, bytesRead: lines.count)) }
    }

    /// An old generation that is no longer kept open and has grown: what was added is not read.
    mutating func tellGrown(_ generations: [Sibling]) {
        for sibling in generations {
            let identity = sibling.status.identity
            guard
                let end = position?.finished.first(where: { $0.identity == identity })?.end,
                sibling.status.size > end
            else { continue }
            notices.append(.grown)
            position?.finish(identity, at: sibling.status.size)
        }
    }
}
