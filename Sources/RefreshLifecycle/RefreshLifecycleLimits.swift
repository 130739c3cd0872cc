// SPDX-License-Identifier: Apache-2.0

/// How much state the fold of the background refresh keeps and for how long (docs/lifecycle.md).
public struct RefreshLifecycleLimits: Sendable {
    /// How long the outcome of a run that has ended waits for an earlier end, which may arrive after it: 2 seconds.
    public var settlingSeconds: Int64 = 2
    /// How long a run stays open after the latest arrival of its installation, so that late events still join it: 15
    /// minutes.
    public var closingGraceSeconds: Int64 = 15 * 60
    /// How long the facts of judged runs are kept after the latest event, so that a line and an analytics event that come
    /// one long after the other still count once: 6 hours.
    public var keptSeconds: Int64 = 6 * 3_600
    /// The most facts of one installation in the service, at 16 bytes each; at least 16 and at most 65,535. Past it the
    /// older half of its runs is closed.
    public var factsPerInstallation = 512
    /// The most installations, at about 100 bytes each and their facts. Past it the one that was added first is closed.
    public var installations = 200_000
    /// The most facts of all installations. Past it the installation that was added first closes its runs.
    public var facts = 4_000_000

    /// The documented defaults.
    public init() {}
}
