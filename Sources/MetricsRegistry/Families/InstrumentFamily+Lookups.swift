// SPDX-License-Identifier: Apache-2.0

/// Look-ups of up to three label values, which make no array of them.
///
/// Those with a closure don't count a reference to the series, which would be two atomic additions.
extension InstrumentFamily {
    @inline(__always)
    func member(_ value: String) -> Member {
        let hash = hash(value)
        return find(hash) { $0.has(value) } ?? create([value], hash: hash)
    }

    @inline(__always)
    func member(_ first: String, _ second: String) -> Member {
        let hash = hash(first, second)
        return find(hash) { $0.has(first, second) } ?? create([first, second], hash: hash)
    }

    @inline(__always)
    func member(_ first: String, _ second: String, _ third: String) -> Member {
        let hash = hash(first, second, third)
        return find(hash) { $0.has(first, second, third) } ?? create([first, second, third], hash: hash)
    }

    @inline(__always)
    func withMember(_ value: String, _ body: (Member) -> Void) {
        if let found = unsafe reference(hash(value), where: { $0.has(value) }) {
            return unsafe found._withUnsafeGuaranteedRef(body)
        }
        return body(member(value))
    }

    @inline(__always)
    func withMember(_ first: String, _ second: String, _ body: (Member) -> Void) {
        if let found = unsafe reference(hash(first, second), where: { $0.has(first, second) }) {
            return unsafe found._withUnsafeGuaranteedRef(body)
        }
        return body(member(first, second))
    }

    @inline(__always)
    private func hash(_ value: String) -> UInt64 {
        var hash = LabelHash(seed: seed)
        hash.combine(value)
        return hash.value
    }

    @inline(__always)
    private func hash(_ first: String, _ second: String) -> UInt64 {
        var hash = LabelHash(seed: seed)
        hash.combine(first)
        hash.combine(second)
        return hash.value
    }

    @inline(__always)
    private func hash(_ first: String, _ second: String, _ third: String) -> UInt64 {
        var hash = LabelHash(seed: seed)
        hash.combine(first)
        hash.combine(second)
        hash.combine(third)
        return hash.value
    }
}

extension Instrument {
    @inline(__always)
    fileprivate func has(_ value: String) -> Bool {
        let values = labelValues
        return values.count == 1 && values[0] == value
    }

    @inline(__always)
    fileprivate func has(_ first: String, _ second: String) -> Bool {
        let values = labelValues
        return values.count == 2 && values[0] == first && values[1] == second
    }

    @inline(__always)
    fileprivate func has(_ first: String, _ second: String, _ third: String) -> Bool {
        let values = labelValues
        return values.count == 3 && values[0] == first && values[1] == second && values[2] == third
    }
}
