// SPDX-License-Identifier: Apache-2.0

internal import LedgerState
internal import TelemetryEvents

/// How far a followed file has been read: the end of the last whole line that was taken.
struct FilePosition: Hashable, Sendable {
    /// How many finished generations are kept.
    static let maximumFinished = 8
    /// PATH_MAX, in bytes.
    static let maximumPath = 4_096
    private static let version: UInt64 = 1

    /// A generation that was read to its end.
    struct Finished: Hashable, Sendable {
        var identity: FileIdentity
        var end: UInt64
    }

    /// The followed path.
    var path: String
    /// The file that was read last, which may have been renamed since.
    var identity: FileIdentity
    var offset: UInt64
    /// The fingerprint of the content before the offset (`ContentMark`).
    var fingerprint: UInt64 = 0
    /// The last observed time of a write to the file, in nanoseconds since 1970.
    var modified: Int64
    /// Whether the offset is inside an overlong line whose beginning was taken.
    var isInsideLongLine = false
    /// The latest generations that were read to their end.
    var finished: [Finished] = []

    /// Moves to the beginning of the file, whose content is not known.
    mutating func startOver() {
        offset = 0
        fingerprint = 0
        isInsideLongLine = false
    }

    mutating func finish(_ identity: FileIdentity, at end: UInt64) {
        finished.removeAll { $0.identity == identity }
        if finished.count >= Self.maximumFinished { finished.removeFirst() }
        finished.append(Finished(identity: identity, end: end))
    }

    /// The position and the decoder's state, as little-endian 64-bit words and two byte strings.
    func encoded(with state: [UInt8]) -> [UInt8] {
        let path = Array(path.utf8.prefix(Self.maximumPath))
        var words = [
            Self.version, identity.device, identity.inode, offset, fingerprint, UInt64(bitPattern: modified),
            isInsideLongLine ? 1 : 0, UInt64(finished.count),
        ]
        for file in finished { words += [file.identity.device, file.identity.inode, file.end] }
        words += [UInt64(path.count), UInt64(state.count)]
        return LittleEndianWords.bytes(words) + path + state
    }

    /// Decodes a position; nil for invalid bytes.
    static func decode(_ bytes: [UInt8]) -> (position: FilePosition, state: [UInt8])? {
        guard
            let words = LittleEndianWords.words(Array(bytes.prefix(64))), words.count == 8, words[0] == version,
            words[7] <= UInt64(maximumFinished)
        else { return nil }
        let end = 64 + Int(words[7]) * 24 + 16
        guard bytes.count >= end, let more = LittleEndianWords.words(Array(bytes[64..<end])) else { return nil }
        let (pathCount, stateCount) = (more[more.count - 2], more[more.count - 1])
        guard
            pathCount <= UInt64(maximumPath), stateCount <= UInt64(bytes.count),
            end + Int(pathCount) + Int(stateCount) == bytes.count
        else { return nil }
        let stateStart = end + Int(pathCount)
        let position = FilePosition(
            path: String(decoding: bytes[end..<stateStart], as: UTF8.self),
            identity: FileIdentity(device: words[1], inode: words[2]),
            offset: words[3],
            fingerprint: words[4],
            modified: Int64(bitPattern: words[5]),
            isInsideLongLine: words[6] == 1,
            finished: stride(from: 0, to: more.count - 2, by: 3).map { at in
                Finished(identity: FileIdentity(device: more[at], inode: more[at + 1]), end: more[at + 2])
            }
        )
        return (position, Array(bytes[stateStart...]))
    }
}

/// The first and the last bytes before an offset, which identify a file's content: in a copy, or as changed after a
/// truncation.
struct ContentMark: Hashable, Sendable {
    static let headBytes = 1_024
    static let tailBytes = 256

    private(set) var head: [UInt8] = []
    private(set) var tail: [UInt8] = []

    init() {}

    init(head: [UInt8], tail: [UInt8]) {
        self.head = head
        self.tail = tail
    }

    /// The range of the head before an offset.
    static func headRange(before offset: UInt64) -> Range<UInt64> { 0..<min(offset, UInt64(headBytes)) }

    /// The range of the tail before an offset.
    static func tailRange(before offset: UInt64) -> Range<UInt64> {
        (offset - min(offset, UInt64(tailBytes)))..<offset
    }

    /// Advances the mark past some bytes.
    mutating func append(_ bytes: some Collection<UInt8>) {
        if head.count < Self.headBytes { head += bytes.prefix(Self.headBytes - head.count) }
        tail += bytes.suffix(Self.tailBytes)
        if tail.count > Self.tailBytes { tail.removeFirst(tail.count - Self.tailBytes) }
    }

    func appending(_ bytes: some Collection<UInt8>) -> ContentMark {
        var mark = self
        mark.append(bytes)
        return mark
    }

    /// A keyed hash of both, so that the ledger holds no content of the log; 0 at the beginning of a file.
    func fingerprint(_ pseudonyms: any Pseudonymising) -> UInt64 {
        if tail.isEmpty { return 0 }
        let bytes = head + tail
        return pseudonyms.pseudonym(of: bytes.span).high | 1
    }
}
