// SPDX-License-Identifier: Apache-2.0

/// Finds what is to be read after a rotation, from what lies in the directory.
struct RotationPlan {
    /// From how many bytes on content alone identifies a file of any name; shorter beginnings are alike in many logs.
    private static let certainBytes: UInt64 = 256

    let name: RotationName
    let siblings: [Sibling]
    private let neighbours: Neighbours

    /// - Parameter neighbours: the files that lay there before the rotation.
    init(base: String, siblings: [Sibling], neighbours: Neighbours) {
        name = RotationName(of: base)
        self.siblings = siblings
        self.neighbours = neighbours
    }

    /// The file of a position under whatever name it has now.
    func original(of position: FilePosition) -> Sibling? {
        siblings.first { $0.status.identity == position.identity && holds($0, position) }
    }

    /// The longest copy of what was read up to a position, in another file.
    func copy(of position: FilePosition) -> Sibling? {
        guard position.offset > 0 else { return nil }
        return siblings.filter { sibling in
            sibling.status.identity != position.identity && holds(sibling, position)
                && (position.offset >= Self.certainBytes || name.isGeneration(sibling.name))
        }.max { ($0.status.size, $0.status.modified) < ($1.status.size, $1.status.modified) }
    }

    /// Whether a file surely continues what was read up to a position, under another identity.
    func isCopy(_ identity: FileIdentity, of position: FilePosition) -> Bool {
        position.offset >= Self.certainBytes
            && siblings.contains { $0.status.identity == identity && holds($0, position) }
    }

    private func holds(_ sibling: Sibling, _ position: FilePosition) -> Bool {
        sibling.status.size >= position.offset && sibling.fingerprint == position.fingerprint
    }

    /// The generations that were written after a time, the oldest first: neither known ones nor copies of what was read.
    func generations(
        writtenSince time: Int64,
        besides known: Set<FileIdentity>,
        after position: FilePosition
    ) -> [Sibling] {
        siblings.filter { sibling in
            sibling.status.modified >= time && sibling.status.size > 0
                && name.isGeneration(sibling.name)
                && !neighbours.contains(sibling)
                && !known.contains(sibling.status.identity)
                && !isCopy(sibling.status.identity, of: position)
                && !position.finished.contains(
                    FilePosition.Finished(identity: sibling.status.identity, end: sibling.status.size)
                )
        }.sorted { left, right in
            left.status.modified == right.status.modified
                ? name.isOlder(left.name, right.name) : left.status.modified < right.status.modified
        }
    }
}
