// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents

/// Decides what to read of a followed file, through every kind of rotation: a pure function of what is observed.
///
/// The owner looks at the path, then does what `next()` asks for and reports it, until that is `rest`. Files are read one
/// after the other; a file that has taken the path is opened at once, so that no later rename or deletion loses it.
struct FileTail: Sendable {
    /// What the owner is to do next.
    enum Request: Equatable, Sendable {
        /// Hand these lines on; they end at the position.
        case deliver(Chunk)
        /// List the directory, with fingerprints before this offset.
        case survey(offset: UInt64)
        case open(Target)
        /// Read the file at an offset; the mark is wanted before it.
        case read(FileIdentity, offset: UInt64, count: Int)
        /// Nothing until the next look.
        case rest
    }

    /// Whole lines, with the position behind them.
    struct Chunk: Equatable, Sendable {
        var lines: [UInt8]
        var position: FilePosition
        /// How many bytes of the file were read for it.
        var bytesRead: Int
    }

    /// A file to open and from where to read it.
    struct Target: Equatable, Sendable {
        var path: String
        var identity: FileIdentity
        /// Where reading goes on in it; nil for a file that is to be read from its beginning when its turn comes.
        var resumed: FilePosition?
    }

    /// Something that the operator should know.
    enum Notice: Equatable, Sendable {
        case rotated
        case truncated
        /// The rest of a file could not be found.
        case lostRest
        /// An old generation has grown long after its end.
        case grown
        case refused(FileProblem)
        case readable
    }

    /// An open file, or one whose turn comes.
    struct Generation: Sendable {
        var identity: FileIdentity
        var size: UInt64
        var modified: Int64
        /// Since when a later file holds lines, so that nobody should write to this one any more.
        var supersededAt: Int64?
    }

    enum Search: Sendable {
        case rotated
        case truncated
        case lost
        /// A file has been read to its end, and the next one is to be found.
        case next
        /// Nothing is to be found: what lies there is remembered.
        case neighbours
    }

    /// What can fail.
    enum Call: Sendable {
        case look, open, read
    }

    /// The most bytes of one read.
    static let chunkBytes = 1 << 20
    /// How long a file is still read at its end after the next one has lines, in microseconds.
    static let linger: Int64 = 1_000_000
    /// How long to wait before what failed is tried again, in microseconds.
    static let retryPause: Int64 = 1_000_000
    static let maximumOpen = 64

    let path: String
    let name: String
    let pseudonyms: any Pseudonymising

    /// What was delivered so far; nil before the first file was found.
    var position: FilePosition?
    /// The open files, the first being read.
    var files: [Generation] = []
    var notices: [Notice] = []
    var current: PathObservation = .absent
    var now: Int64 = 0
    var mark = ContentMark()
    var cutter = LineCutter()
    var readOffset: UInt64 = 0
    /// How large the first file was seen to be while it was the same.
    var seenEnd: UInt64 = 0
    var search: Search?
    var searchesLeft = 0
    var hasSearchedWithoutPath = false
    var targets: [Target] = []
    var ready: [Chunk] = []
    var isAtEnd = true
    /// Whether the first file is not begun yet.
    var isBetweenFiles = false
    var retryAt = Int64.min
    var problem: (problem: FileProblem, call: Call)?
    /// Of which file at the path it was told that it stands there after a rotation.
    var toldOf: FileIdentity?
    var neighbours = Neighbours()
    /// What was listed at a look, and holds if the next one finds no rotation.
    var listed: (time: Int64, neighbours: Neighbours)?
    var neighboursDue = Int64.min
    var late: [Late] = []
    var lateToRead: [FileIdentity] = []

    /// - Parameters:
    ///   - path: the absolute path to follow.
    ///   - position: where reading ended the last time; nil to begin with the file as it is.
    init(path: String, position: FilePosition?, pseudonyms: any Pseudonymising) {
        self.path = path
        name = String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
        self.position = position
        self.pseudonyms = pseudonyms
    }

    /// The bytes that are known to wait behind what was stored.
    func lag(behind stored: FilePosition?) -> UInt64 {
        let open = files.reduce(0) { $0 + $1.size }
        guard let stored else { return open }
        if let file = files.first(where: { $0.identity == stored.identity }) {
            return open - min(file.size, stored.offset)
        }
        let finished = position?.finished ?? []
        guard let index = finished.firstIndex(where: { $0.identity == stored.identity }) else { return open }
        let read = finished[index...].reduce(0) { $0 + $1.end }
        return open + read - min(read, stored.offset)
    }

    /// The files that are to be kept open.
    var openIdentities: Set<FileIdentity> { Set(files.map(\.identity) + late.map(\.identity)) }

    mutating func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    /// What to do now.
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
            if let nextLate { return nextLate }
            guard isNeighbourhoodDue() else { return .rest }
            search = .neighbours
            return .survey(offset: 0)
        }
        return .read(file.identity, offset: readOffset, count: Self.chunkBytes - cutter.held.count)
    }
}
