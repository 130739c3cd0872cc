// SPDX-License-Identifier: Apache-2.0

/// What became of a client's cumulative counters (SPEC 5.3). Raw values are stored in checkpoints.
public enum SnapshotResult: UInt8, CaseIterable, Sendable {
    /// They were compared with what is counted of the installation.
    case applied = 0
    /// They are lower than the last ones, since the client began anew, or what was counted before them may have been
    /// forgotten: they are the new baseline.
    case reset = 1
    /// They are older than the last ones applied and changed nothing.
    case stale = 2
    /// They name no installation and changed nothing.
    case unidentified = 3
    /// They tell more than can be believed; they are the new baseline, and nothing was added.
    case implausible = 4

    /// The label value.
    public var name: StaticString {
        switch self {
        case .applied: "applied"
        case .reset: "reset"
        case .stale: "stale"
        case .unidentified: "unidentified"
        case .implausible: "implausible"
        }
    }
}
