// SPDX-License-Identifier: Apache-2.0

/// A cumulative counter that a client may send in `telemetry` (docs/lifecycle.md).
///
/// Raw values are stored in the ledger.
public enum ClientCounter: UInt8, CaseIterable, Sendable {
    case scheduled = 1
    case executed = 2
    case success = 3
    case failure = 4
    case used = 5
    case failureNetwork = 6
    case failureAuth = 7
    case failureSystem = 8
    case failureOther = 9

    /// The key in the `telemetry` object; a failure counter may carry its reason as a label.
    public var name: StaticString {
        switch self {
        case .scheduled: "dnp_prefetch_scheduled_total"
        case .executed: "dnp_prefetch_executed_total"
        case .success: "dnp_prefetch_success_total"
        case .failure: "dnp_prefetch_failure_total"
        case .used: "dnp_prefetch_used_for_notification_total"
        case .failureNetwork: #"dnp_prefetch_failure_total{reason="NETWORK"}"#
        case .failureAuth: #"dnp_prefetch_failure_total{reason="AUTH"}"#
        case .failureSystem: #"dnp_prefetch_failure_total{reason="SYSTEM"}"#
        case .failureOther: #"dnp_prefetch_failure_total{reason="OTHER"}"#
        }
    }
}

/// The cumulative counters of one event, each at most once.
struct ClientCounts {
    private var values: InlineArray<10, UInt64> = InlineArray(repeating: 0)
    private var present: UInt16 = 0

    subscript(counter: ClientCounter) -> UInt64? {
        get { present & 1 << counter.rawValue == 0 ? nil : values[Int(counter.rawValue)] }
        set {
            guard let newValue else { return }
            present |= 1 << counter.rawValue
            values[Int(counter.rawValue)] = newValue
        }
    }
}

extension EventTexts {
    /// Appends the counters that are present, in the order of their raw values.
    mutating func append(_ counts: ClientCounts) -> Event.Text {
        let start = bytes.count
        for counter in ClientCounter.allCases {
            if let value = counts[counter] { append(counter, value) }
        }
        return start..<bytes.count
    }
}

extension Event {
    /// Calls `body` with each cumulative counter of the client, in stored order.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public func forEachClientCounter(
        in bytes: Span<UInt8>,
        _ body: (ClientCounter, UInt64) -> Void
    ) throws(EventRecordError) {
        if clientCounters.isEmpty { return }
        try ClientStateRecord.forEach(bytes, clientCounters) { entry in
            if case .counter(let counter, let value) = entry { body(counter, value) }
        }
    }
}
