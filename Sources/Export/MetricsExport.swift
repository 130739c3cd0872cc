// SPDX-License-Identifier: Apache-2.0

/// Pushes the metrics to one destination at an interval.
///
/// Metrics are state, so nothing queues: what was not taken before the next push is replaced by it.
package struct MetricsExport: Sendable {
    /// Reads the page of this moment.
    package typealias PageSource = @Sendable () async -> MetricsPage?

    /// How long the last push may take at a stop, the markers of ended series included; a service must end within ten
    /// seconds.
    private static let lastPush = Duration.seconds(4)
    /// After which only the markers are sent.
    private static let lastCounts = Duration.seconds(1)
    /// The most series in a request of remote write.
    private static let seriesPerRequest = 2_000

    private let session: ExportSession
    private let resource: ExportResource
    private let version: String
    private let page: PageSource

    package init(
        _ session: ExportSession,
        _ resource: ExportResource,
        version: String,
        page: @escaping PageSource
    ) {
        self.session = session
        self.resource = resource
        self.version = version
        self.page = page
    }

    /// Runs until it is cancelled; then pushes once more, so that the last counts arrive.
    package func run() async {
        var push = Push(session, resource, version: version)
        let clock = ContinuousClock()
        var next = clock.now
        while !Task.isCancelled {
            next = max(next + session.destination.interval, clock.now)
            if session.pause == .zero, let page = await page() {
                await push.deliver(page, until: next)
            }
            try? await Task.sleep(until: next, clock: clock)
        }
        await lastPush(push)
    }

    /// Runs in a task of its own, since this one is cancelled, and for a few seconds at most.
    private func lastPush(_ push: Push) async {
        guard session.complaint == nil else { return }
        let (page, end) = (page, ContinuousClock.now + Self.lastPush)
        let task = Task {
            var push = push
            guard let page = await page() else { return }
            await push.deliver(page, until: end - (Self.lastPush - Self.lastCounts), isLast: true)
            await push.end(page.time, until: end)
        }
        let timer = Task {
            try await Task.sleep(until: end)
            task.cancel()
        }
        await task.value
        timer.cancel()
    }

    /// The pushes of one destination, with what they remember of each other.
    private struct Push: Sendable {
        private let session: ExportSession
        private let resource: ExportResource
        private let metrics: OTLPMetrics
        private var version: RemoteWrite.Version
        /// The last markers of the series that the destination has.
        private var shown: [[MetricsPage.Label]: RemoteWriteSeries] = [:]

        init(_ session: ExportSession, _ resource: ExportResource, version: String) {
            self.session = session
            self.resource = resource
            metrics = OTLPMetrics(resource, version: version)
            self.version = session.destination.version ?? .v2
        }

        /// - Parameters:
        ///   - end: when the page is outdated.
        ///   - isLast: whether what is left of it then is not sent.
        mutating func deliver(_ page: MetricsPage, until end: ContinuousClock.Instant, isLast: Bool = false) async {
            guard session.destination.signal == .remoteWrite else {
                for (request, points) in await prepare(page) {
                    while await session.sendOTLP(request, count: points) == .again {
                        guard await mayRepeat(until: end) else { return }
                    }
                }
                return
            }
            let series = page.remoteWriteSeries(of: resource)
            var gone = shown
            for each in series { gone[each.labels] = nil }
            guard await write(series + gone.values, page.families, page.time, until: end, isLast: isLast) else {
                return
            }
            shown = Dictionary(series.map { ($0.labels, $0.ended) }) { first, _ in first }
        }

        private func prepare(_ page: MetricsPage) async -> [(request: ExportSession.Prepared, points: Int)] {
            let (metrics, session) = (metrics, session)
            let prepared = await EncodingThread.run {
                metrics.requests(page).map { (request: session.prepare($0.bytes), points: $0.points) }
            }
            return prepared ?? []
        }

        /// Marks all series as ended.
        mutating func end(_ time: UInt64, until end: ContinuousClock.Instant) async {
            // Later than the last sample, or a receiver would refuse the marker as a second value of one moment.
            let time = max(time + 1_000_000, UInt64(max(session.time, 0)) * 1_000)
            if await write(Array(shown.values), [], time, until: end, isLast: true) { shown = [:] }
        }

        /// False where the rest must wait for the next push.
        private mutating func write(
            _ series: [RemoteWriteSeries],
            _ families: [MetricsPage.Family],
            _ time: UInt64,
            until end: ContinuousClock.Instant,
            isLast: Bool
        ) async -> Bool {
            for start in stride(from: 0, to: series.count, by: MetricsExport.seriesPerRequest) {
                if isLast, start > 0, ContinuousClock.now >= end { return false }
                let all = series[start..<min(start + MetricsExport.seriesPerRequest, series.count)]
                while true {
                    let part = all.filter { $0.isKnown(to: version) }
                    let request = RemoteWrite.request(version, part, families, time: Int64(time / 1_000_000))
                    let (decision, older) = await session.sendRemoteWrite(request, version, count: part.count)
                    if older != nil {
                        version = .v1
                    } else if decision != .again {
                        break
                    } else if await !mayRepeat(until: end) {
                        return false
                    }
                }
            }
            return true
        }

        /// Waits for the next attempt; false where it would come too late.
        private func mayRepeat(until end: ContinuousClock.Instant) async -> Bool {
            let next = ContinuousClock.now + session.pause
            guard next < end, !Task.isCancelled else { return false }
            try? await Task.sleep(until: next)
            return !Task.isCancelled
        }
    }
}
