// SPDX-License-Identifier: Apache-2.0

/// What a page makes of the labels that libraries use in swift-metrics.
public struct RegistryMetricsOptions: Sendable {
    /// Names of metrics by label, in place of those made from the labels. A counter's should end in `_total`.
    public var names: [String: String] = [:]
    /// Help texts by label, in place of a sentence that only tells where the metric is from.
    public var help: [String: String] = [:]
    /// Labels whose instruments do nothing.
    public var ignored: Set<String> = []
    /// Bounds of the histograms of timers, in seconds; from half a millisecond to ten seconds unless told.
    public var durationBuckets: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// Bounds of the histograms of recorders; from one to a million unless told.
    public var valueBuckets: [Double] = [
        1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 100_000, 1_000_000,
    ]
    /// Bounds by label, for one timer (in seconds) or recorder.
    public var buckets: [String: [Double]] = [:]
    /// Native buckets of all timers and recorders beside those bounds; none unless told.
    public var native: NativeBuckets?

    /// Whether `http.server.requests` is `http.server.requests_total`, in quotes on pages that can show it, in place of
    /// `http_server_requests_total`. No unless told; needs a registry that takes such names.
    public var keepsUTF8Names = false

    /// The defaults.
    public init() {}

    var naming: ReportedName { ReportedName(keepsUTF8: keepsUTF8Names) }

    func ignores(_ label: String) -> Bool {
        !ignored.isEmpty && ignored.contains(label)
    }
}
