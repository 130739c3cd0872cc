// SPDX-License-Identifier: Apache-2.0

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
