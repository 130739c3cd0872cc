// SPDX-License-Identifier: Apache-2.0

/// The call on a followed file that failed last, until one like it works again.
struct FileFailure: Sendable {
    enum Call: Sendable {
        case look, open, read
    }

    private static let retryPauseMicroseconds: Int64 = 1_000_000

    private var last: (problem: FileProblem, call: Call)?
    private var retryAt = Int64.min

    /// Whether the file may be opened again; `now` is monotonic, in microseconds.
    func mayRetry(at now: Int64) -> Bool { now >= retryAt }

    /// Ends the pause before the next attempt.
    mutating func retryAtOnce() { retryAt = .min }

    /// Notes a failure; returns whether its problem is another one than before.
    mutating func note(_ problem: FileProblem, of call: Call, now: Int64) -> Bool {
        defer { last = (problem, call) }
        retryAt = now + Self.retryPauseMicroseconds
        return last?.problem != problem
    }

    /// Notes that a call works; returns whether its failure ends with that.
    mutating func end(of call: Call) -> Bool {
        guard let last, last.call == call else { return false }
        self.last = nil
        retryAt = .min
        return true
    }
}

/// What the operator has yet to hear of a followed file.
struct FileNotices: Sendable {
    private var waiting: [FileTail.Notice] = []
    /// The file at the path whose rotation was already noticed.
    private var noticedRotation: FileIdentity?

    mutating func append(_ notice: FileTail.Notice) { waiting.append(notice) }

    /// Appends the notice of a rotation once, although it is found again while the new file cannot be opened.
    ///
    /// - Parameter path: the file at the path; nil for none, whose rotation is noticed each time.
    mutating func appendOnce(_ notice: FileTail.Notice, of path: FileIdentity?) {
        if let path {
            guard noticedRotation != path else { return }
            noticedRotation = path
        }
        waiting.append(notice)
    }

    /// The reading of another file begins.
    mutating func beginFile() { noticedRotation = nil }

    mutating func take() -> [FileTail.Notice] {
        defer { waiting = [] }
        return waiting
    }
}
