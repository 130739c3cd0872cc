// SPDX-License-Identifier: Apache-2.0

/// A page of about 1 MB, plain, compressed anew, and compressed with what the last scrape left; nothing moves but what the
/// service counts of its own scrapes.
enum LargeScrapeBenchmark: Benchmark {
    static let name = "large-scrape"
    private static let scrapes = 200
    private static let versions = 30
    private static let platforms = ["ios", "android", "other", ""]

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let labels = ["--label", "platform", "--label", "app_version"]
        let service = try ServiceProcess(in: room, ServiceProcess.Settings(options: labels))
        try service.start()
        let apps = PreparedRequest(body: Array(events.utf8), events: versions * platforms.count)
        _ = try LoadClient(connections: 1).send([apps], to: service)

        let page = try service.connect().exchange(PreparedRequest(get: "/metrics"))
        // A page of families that are named is not remembered, also where all of them are.
        let all = "/metrics?" + families(on: page).map { "name[]=\($0)" }.joined(separator: "&")
        let gzip = ["Accept-Encoding: gzip"]
        return [
            try row("plain, \(page.body.count) bytes", PreparedRequest(get: "/metrics"), service),
            try row("gzip, deflated anew", PreparedRequest(get: all, headers: gzip), service),
            try row("gzip, deflated where it has changed", PreparedRequest(get: "/metrics", headers: gzip), service),
        ]
    }

    private static var events: String {
        var lines = ""
        for version in 0..<versions {
            for platform in platforms {
                lines += """
                    {"event":"prefetch_scheduled","scheduleId":"\(platform)-\(version)","platform":"\(platform)",\
                    "timestamp":"2025-11-15T05:41:00Z","appVersion":"1.\(version)"}

                    """
            }
        }
        return lines
    }

    private static func families(on page: HTTPAnswer) -> [Substring] {
        page.text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
    }

    private static func row(_ way: String, _ request: PreparedRequest, _ service: ServiceProcess) throws -> Row {
        let connection = try service.connect()
        let clock = try service.cpuClock
        var cpu: [Double] = []
        var bytes = 0
        for _ in 0..<5 {
            let before = clock.seconds
            for _ in 0..<scrapes / 5 { bytes = try connection.exchange(request).body.count }
            cpu.append((clock.seconds - before) / Double(scrapes / 5) * 1e6)
        }
        return Row("GET /metrics, \(way): CPU time of the service", "us", cpu, note: "\(bytes) bytes sent")
    }
}
