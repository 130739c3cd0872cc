// SPDX-License-Identifier: Apache-2.0

/// The way to a histogram's sparse buckets for observations. The histogram owns the buckets; counting another owner in
/// and out would take longer than counting the value.
@safe
struct SparseCounting: Sendable {
    private let buckets: Unmanaged<SparseBuckets>

    init(_ buckets: SparseBuckets) {
        unsafe self.buckets = .passUnretained(buckets)
    }

    /// Counts a finite value.
    @inline(__always)
    func add(_ value: Double) {
        unsafe buckets._withUnsafeGuaranteedRef { $0.add(of: value) }
    }
}
