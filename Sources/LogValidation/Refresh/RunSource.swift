// SPDX-License-Identifier: Apache-2.0

internal import RefreshLifecycle
internal import TelemetryEvents

/// What the fold does not keep of an installation's runs: the input with its first event, and for the record of a test run
/// the device and its conditions, whenever an event tells others than the one before.
struct RunSource: Sendable {
    /// The most changes of device or conditions that are kept.
    private static let changeLimit = 10_000

    let input: Int
    private var changes: [(time: Timestamp, device: DeviceNames, conditions: RunConditions)] = []
    /// The last successful completion of the runs so far.
    private var lastSuccess: Timestamp?

    init(input: Int) {
        self.input = input
    }

    mutating func add(_ event: Event, _ bytes: Span<UInt8>, _ detail: JudgementOptions.Detail) {
        guard detail.isTestRun, changes.count < Self.changeLimit else { return }
        let device = DeviceNames(event, bytes)
        var conditions = RunConditions()
        conditions.add(event)
        guard !conditions.isUnknown || device != DeviceNames() else { return }
        if let last = changes.last, last.device == device, last.conditions == conditions, last.time <= event.timestamp {
            return
        }
        changes.append((event.timestamp, device, conditions))
    }

    /// A run with what is known before it; runs come in the order of their begin.
    mutating func judged(_ run: ClosedRun) -> JudgedRun {
        var judged = JudgedRun(closed: run, input: input)
        if let lastSuccess {
            let distance = run.begin.microseconds - lastSuccess.microseconds
            judged.followsSuccess = run.hasAssumedTimes || distance < RefreshRules.minimumInterval
        }
        if let succeeded = run.succeededAt { lastSuccess = max(lastSuccess ?? succeeded, succeeded) }
        return judged
    }

    /// Adds device and conditions to a run: what is told last until its end, and where nothing is, what is told first.
    func describe(_ run: inout JudgedRun) {
        let end = run.closed.end ?? run.closed.begin
        let changes = changes.sorted { $0.time < $1.time }
        let behind = changes.firstIndex { $0.time > end } ?? changes.count
        for change in changes[..<behind].reversed() + changes[behind...] {
            run.device = run.device.completed(by: change.device)
            run.conditions = run.conditions.completed(by: change.conditions)
        }
    }
}
