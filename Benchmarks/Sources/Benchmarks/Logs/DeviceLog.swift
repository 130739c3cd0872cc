// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Writes the log of a device that prefetches every five minutes for years: cycles of 12 to 15 lines that end in success
/// and use, in the three kinds of failure, or in content fetched on demand.
struct DeviceLog {
    /// How the lines are wrapped.
    enum Form: String {
        /// An RFC 3339 time, and the plugin's own mark.
        case stamped
        /// `logcat -v threadtime`.
        case threadtime
        /// Like the stamped one, with a run of the background refresh in each cycle.
        case bothApps = "stamped, both apps'"
    }

    private static let start: Int64 = 1_640_995_200  // 2022
    private static let secondsPerCycle: Int64 = 300

    let form: Form
    private(set) var lines = 0
    private(set) var bytes: [UInt8] = []
    private var cycle = 0
    private var due: [UInt8] = []

    init(_ form: Form) {
        self.form = form
    }

    mutating func removeWrittenBytes() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends a cycle; of ten, six are used, one fails in each of the three ways, and one is fetched on demand.
    mutating func appendCycle() {
        due = rfc3339(at: 240)
        let kind = cycle % 10
        schedule()
        switch kind {
        case 3: fail(["Fetch failed (error=NetworkError, httpStatus=0, willRetry=false)"], "NETWORK")
        case 5:
            fail(
                [
                    "Fetch failed: error=AuthError, httpStatus=401, willRetry=false",
                    "JWT expired, authentication failed",
                ],
                "AUTH"
            )
        case 7: fail(["Task expired"], "SYSTEM")
        default: succeed(isCached: kind != 9)
        }
        deliver(isCached: ![3, 5, 7, 9].contains(kind))
        if form == .bothApps { refresh() }
        cycle += 1
    }

    private mutating func schedule() {
        line(0, "FETCH", "Scheduling prefetch for notification at ", due)
        line(0, "FETCH", "BGAppRefreshTask scheduled (earliestBeginDate=", rfc3339(at: 90), ")")
        line(0, "SCHEDULER", "Scheduling notification for ", due)
        line(0, "STORAGE", "Persisted schedule to DB (id=", id, ", type=DAILY)")
        line(100, "FETCH", "BGTask handler invoked (id=dnp.fetch)")
        line(101, "FETCH", "Starting fetch (scheduleId=", id, ")")
        line(101, "FETCH", "API call: GET /api/notifications")
    }

    private mutating func succeed(isCached: Bool) {
        line(103, "FETCH", "Fetch success (status=200, bytes=1234, ttl=86400)")
        if isCached {
            line(103, "FETCH", "Cached content for scheduleId=", id)
        } else {
            line(103, "STORAGE", "Cache write failed: error=DiskFull")
        }
        line(104, "FETCH", "Task completed (success=true)")
    }

    private mutating func fail(_ texts: [String], _ reason: String) {
        for text in texts { line(103, "FETCH", text) }
        line(104, "FETCH", "Task completed (success=false, reason=\(reason))")
    }

    private mutating func deliver(isCached: Bool) {
        line(240, "SCHEDULER", "Preparing content for notification at ", due)
        if isCached {
            line(240, "FETCH", "Found cached content (age=137s, source=prefetch)")
            line(240, "FETCH", "Using cached content for notification")
        } else {
            line(240, "FETCH", "No cached content, falling back to on-demand fetch")
        }
        line(241, "SCHEDULER", "Notification delivered (id=", id, ")")
    }

    private mutating func refresh() {
        line(250, "BackgroundRefresh", "Background refresh task started")
        line(251, "BackgroundRefresh", "Last test was 40 days ago. Available: false")
        line(251, "BackgroundRefresh", "Background refresh completed in 1.25s with success: true")
        line(251, "BackgroundRefresh", "Scheduled background refresh for 4.0 hours from now")
    }

    private var id: [UInt8] { Array("n\(cycle)".utf8) }

    private func rfc3339(at second: Int64) -> [UInt8] {
        var text: [UInt8] = []
        Timestamp(seconds: Self.start + Int64(cycle) * Self.secondsPerCycle + second).appendRFC3339(to: &text)
        return text
    }

    private mutating func line(
        _ second: Int64,
        _ component: String,
        _ text: String,
        _ value: [UInt8] = [],
        _ rest: String = ""
    ) {
        let time = rfc3339(at: second)
        switch form {
        case .stamped, .bothApps:
            bytes += time
            bytes += Array((component == "BackgroundRefresh" ? " [\(component)] " : " [DNP-\(component)] ").utf8)
        case .threadtime:
            bytes += time[5..<10]
            bytes.append(UInt8(ascii: " "))
            bytes += time[11..<19]
            bytes += Array(".000  \(4_000 + cycle / 20 % 1_000)  4260 I DNP-\(component): ".utf8)
        }
        bytes += Array(text.utf8)
        bytes += value
        bytes += Array(rest.utf8)
        bytes.append(UInt8(ascii: "\n"))
        lines += 1
    }
}
