// SPDX-License-Identifier: Apache-2.0

/// One line of the report: what was done, how it came out in each run, and what it is held against.
struct Row: Sendable {
    /// What the same run measured of somebody else's work.
    struct Peer: Sendable {
        var name: String
        var runs: [Double]

        init(_ name: String, _ runs: [Double]) {
            self.name = name
            self.runs = runs
        }
    }

    enum Verdict: String, Sendable {
        case reached
        case notReached = "NOT REACHED"
        case none = "-"
        case notMeasured = "not measured"
        /// A figure that no work can have, so that the measurement is wrong.
        case impossible = "IMPOSSIBLE"
    }

    var work: String
    var unit: String
    var runs: [Double]
    var target: Target?
    var peer: Peer?
    /// The target is for `median / peer median`, not for the figure itself.
    var targetIsRatio = false
    var note: String?

    init(
        _ work: String,
        _ unit: String,
        _ runs: [Double],
        target: Target? = nil,
        peer: Peer? = nil,
        targetIsRatio: Bool = false,
        note: String? = nil
    ) {
        self.work = work
        self.unit = unit
        self.runs = runs
        self.target = target
        self.peer = peer
        self.targetIsRatio = targetIsRatio
        self.note = note
    }

    /// A line for what could not be measured here.
    static func notMeasured(_ work: String, because reason: String) -> Row {
        Row(work, "", [], note: reason)
    }

    var median: Double { runs.median }

    /// The figure in units of the peer's.
    var peerRatio: Double? {
        guard let peer, !peer.runs.isEmpty, !runs.isEmpty else { return nil }
        return median / peer.runs.median
    }

    /// What the target is for; nil for a ratio to a peer that was not measured.
    private var judged: Double? { targetIsRatio ? peerRatio : median }

    var verdict: Verdict {
        guard !runs.isEmpty else { return .notMeasured }
        guard (runs + (peer?.runs ?? [])).allSatisfy({ $0.isFinite && $0 >= 0 }) else { return .impossible }
        guard let target else { return .none }
        guard let judged else { return .notMeasured }
        return target.isReached(by: judged) ? .reached : .notReached
    }

    /// How the figure stands to its target; 1 is just reached, more is better.
    var targetRatio: Double? {
        guard let target, !runs.isEmpty, let judged else { return nil }
        return target.ratio(of: judged)
    }
}
