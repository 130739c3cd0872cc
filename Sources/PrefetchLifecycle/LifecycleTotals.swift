// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// What the fold has counted so far; no member ever falls.
public struct LifecycleTotals: Hashable, Sendable {
    /// Prefetch tasks scheduled.
    public internal(set) var scheduled: UInt64 = 0
    /// Prefetch tasks executed.
    public internal(set) var executed: UInt64 = 0
    /// Attempts that ended in success.
    public internal(set) var success: UInt64 = 0
    /// Notifications that used prefetched content.
    public internal(set) var used: UInt64 = 0
    /// Attempts that ended in failure for want of a network.
    public internal(set) var failureNetwork: UInt64 = 0
    /// Attempts that ended in failure for want of authorisation.
    public internal(set) var failureAuth: UInt64 = 0
    /// Attempts that the system failed.
    public internal(set) var failureSystem: UInt64 = 0
    /// Attempts that failed for another or an unknown reason.
    public internal(set) var failureOther: UInt64 = 0
    /// Successes that only a summary told of (SPEC 5.2).
    public internal(set) var impliedSuccess: UInt64 = 0
    /// Uses that only a summary told of (SPEC 5.2).
    public internal(set) var impliedUsed: UInt64 = 0
    /// Closed cycles, by the raw value of `CycleOutcome`.
    var outcomes = [UInt64](repeating: 0, count: CycleOutcome.allCases.count)
    /// Broken rules of closed cycles, by the raw value of `ViolationKind`.
    var violations = [UInt64](repeating: 0, count: ViolationKind.allCases.count)
    /// Cycles closed before their time: too many were open, or they could take no more.
    public internal(set) var evictedCycles: UInt64 = 0
    /// Installations forgotten because too many were remembered.
    public internal(set) var evictedInstallations: UInt64 = 0
    /// Identities forgotten before their time because too many were remembered.
    public internal(set) var evictedIdentities: UInt64 = 0

    /// Totals at zero.
    public init() {}

    /// The failures with one reason.
    public func failure(_ reason: FailureReason) -> UInt64 {
        switch reason {
        case .network: failureNetwork
        case .auth: failureAuth
        case .system: failureSystem
        case .other: failureOther
        }
    }

    /// The closed cycles that ended so.
    public func cycles(_ outcome: CycleOutcome) -> UInt64 { outcomes[Int(outcome.rawValue)] }

    /// How many closed cycles broke a rule.
    public func violations(_ kind: ViolationKind) -> UInt64 { violations[Int(kind.rawValue)] }

    mutating func addFailure(_ reason: FailureReason) {
        switch reason {
        case .network: failureNetwork += 1
        case .auth: failureAuth += 1
        case .system: failureSystem += 1
        case .other: failureOther += 1
        }
    }

    mutating func add(_ judgement: Judgement) {
        outcomes[Int(judgement.outcome.rawValue)] += 1
        for kind in ViolationKind.allCases where judgement.breaks(kind) { violations[Int(kind.rawValue)] += 1 }
    }
}

extension LifecycleTotals {
    /// Every simple member, in the order in which a checkpoint stores them.
    private static var members: [WritableKeyPath<LifecycleTotals, UInt64>] {
        [
            \.scheduled, \.executed, \.success, \.used, \.failureNetwork, \.failureAuth, \.failureSystem,
            \.failureOther, \.impliedSuccess, \.impliedUsed, \.evictedCycles, \.evictedInstallations,
            \.evictedIdentities,
        ]
    }

    func append(to writer: inout StateWriter) {
        for member in Self.members { writer.append(self[keyPath: member]) }
        for count in outcomes + violations { writer.append(count) }
    }

    mutating func restore(_ reader: inout StateReader) throws(StateError) {
        for member in Self.members { self[keyPath: member] = try reader.word() }
        for index in outcomes.indices { outcomes[index] = try reader.word() }
        for index in violations.indices { violations[index] = try reader.word() }
    }
}
