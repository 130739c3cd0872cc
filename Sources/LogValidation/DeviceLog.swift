// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// What the log of one device holds beside its cycles.
struct DeviceLog: Sendable {
    /// The first and the last line of the plugin.
    private(set) var firstLine: LinePlace?
    private(set) var lastLine: LinePlace?
    /// The kind and the time of the first line.
    private(set) var firstKind: EventKind?
    private(set) var firstTime: Timestamp?
    /// The first line about a cycle.
    private var firstOfCycle: LinePlace?
    /// The first launch that tells whether schedules wait, and what it tells.
    private var firstLaunch: (place: LinePlace, isPending: Bool)?
    /// The notification time of what the first line schedules.
    private var firstDue: Timestamp?
    /// The latest time that a line has of its own.
    private(set) var lastTime: Timestamp?
    private(set) var kinds: EventKinds = []
    /// The earliest and the latest time at which the task was registered.
    private(set) var registered: [Timestamp] = []
    /// The number of launches with schedules that wait.
    private(set) var pendingLaunches = 0
    /// Whether it is a simulator's, where an event tells that.
    private(set) var isSimulator: Bool?
    /// Whether the system refused a task with BGTaskSchedulerErrorDomain Code=1.
    private(set) var isRefused = false
    /// The executions that tell of their power and of their network.
    private(set) var lowPower = ObservedHabits.Share()
    private(set) var cellular = ObservedHabits.Share()

    /// What a launch at the head of the log, before all cycles, tells of schedules that wait; nil where none does.
    private var pendingAtHead: Bool? {
        guard let firstLaunch, firstOfCycle.map({ firstLaunch.place < $0 }) ?? true else { return nil }
        return firstLaunch.isPending
    }

    /// Whether the log begins with a launch that tells of pending schedules.
    var beginsPending: Bool { pendingAtHead == true }

    /// Whether the task of a cycle may have run before the log begins: not where its first line tells that nothing was
    /// scheduled, or schedules a task for no later notification.
    func mayFollowTask(of cycle: ClosedCycle) -> Bool { pendingAtHead != false && schedulesFirst(after: cycle) ?? true }

    /// Whether the log begins with what the task of a cycle does at once: it schedules the next one.
    func beginsInTask(of cycle: ClosedCycle) -> Bool { schedulesFirst(after: cycle) ?? false }

    /// Whether the first line schedules a task for a later notification than that of a cycle; nil where it schedules none, or
    /// the cycle's is not known.
    private func schedulesFirst(after cycle: ClosedCycle) -> Bool? {
        let due = cycle.notificationTime ?? cycle.stages.delivered ?? cycle.stages.used
        guard let firstDue, let due else { return nil }
        return due < firstDue
    }

    /// The kinds that the plugin tells when it schedules.
    private static let ofScheduling = EventKinds([.prefetchScheduled, .notificationScheduled, .schedulePersisted])

    mutating func add(_ event: Event, _ bytes: Span<UInt8>, _ place: LinePlace) {
        if place < firstLine ?? .last {
            firstLine = place
            firstKind = event.kind
            firstTime = event.timestamp
            firstDue = Self.ofScheduling.contains(event.kind) ? event.scheduledFor ?? event.earliestBeginDate : nil
        }
        if event.kind.belongsToCycle { firstOfCycle = min(firstOfCycle ?? place, place) }
        if event.kind == .pluginStarted, let isPending = event.hasPendingSchedules, place < firstLaunch?.place ?? .last
        {
            firstLaunch = (place, isPending)
        }
        lastLine = max(lastLine ?? place, place)
        if !event.isTimeAssumed, event.timestamp > lastTime ?? .earliestAccepted { lastTime = event.timestamp }
        kinds.insert(EventKinds(event.kind))
        if event.kind == .prefetchRegistered {
            registered = [min(registered.first ?? event.timestamp, event.timestamp), event.timestamp]
        }
        if event.kind == .pluginStarted, event.hasPendingSchedules == true { pendingLaunches += 1 }
        isSimulator = event.isSimulator ?? isSimulator
        if event.kind == .prefetchExecuted {
            if let isLow = event.lowPowerMode { lowPower.add(isLow) }
            if let network = event.network, network != .offline { cellular.add(network == .cellular) }
        }
        if event.kind == .prefetchScheduleFailed, PluginErrorCode.isRefusal(event, in: bytes) { isRefused = true }
    }
}
