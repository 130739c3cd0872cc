// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

extension InPairs {
    @Suite("held scrapes")
    struct HeldScrapeTests {
        private static let timeout = "X-Prometheus-Scrape-Timeout-Seconds"
        /// A client that reads nothing does not stall.
        private static let patient = ["--transfer-grace", "1h"]

        @Test("scrapes past the limit are refused while others are held, and answered again once a client has gone")
        func heldScrapeLimit() async throws {
            try await withService(options: LargePage.options + Self.patient + ["--max-scrapes", "1"]) { service in
                let client = await service.client
                _ = try await client.post(LargePage.events).receipt()
                let whole = try await client.scrape()
                // Some of its requests may be refused too, while one of ours is answered, which is kept short.
                let short = "/metrics?name%5B%5D=dnp_telemetry_scrape_in_flight"
                var held: SilentClient? = try SilentClient(
                    port: client.port,
                    answersOf: whole.body.count,
                    spare: 1_000,
                    headers: ["\(Self.timeout): 120"]
                )
                let refused = try await awaited("all other scrapes are refused") {
                    for _ in 0..<10 where try await client.scrape(path: short).status != 503 { return nil as Answer? }
                    return try await client.scrape(path: short)
                }
                #expect(refused.status == 503 && held != nil)
                let problem = try refused.problem()
                #expect(problem.type == "urn:dnp-telemetry:problem:too-many-scrapes")
                #expect((1...3).contains(Int(refused.headers["retry-after"] ?? "") ?? 0))
                #expect(try await client.scrape(method: "HEAD").status == 503)
                #expect(try await client.get("/-/healthy").status == 200)
                held = nil
                try await eventually("a scrape is answered again") { try await client.scrape().status == 200 }
                #expect(try await client.metric("dnp_telemetry_scrape_refused_total") ?? 0 >= 11)
                try await eventually("no scrape is held any more") {
                    try await client.metric("dnp_telemetry_scrape_in_flight") == 1
                }
                #expect(try await client.metric("dnp_telemetry_scrape_timeouts_total") == 0)
            }
        }

        @Test("a client that reads nothing of its page gives way to a scrape past the limit")
        func heldScrapeGivesWay() async throws {
            // Stalled after two seconds, and closed for that long after.
            let options = ["--max-scrapes", "1", "--transfer-grace", "20s"]
            try await withService(options: LargePage.options + options) { service in
                let client = await service.client
                _ = try await client.post(LargePage.events).receipt()
                let whole = try await client.scrape()
                // Some of its requests may be refused too, while one of ours is answered, which is kept short.
                let held = try SilentClient(
                    port: client.port,
                    answersOf: whole.body.count,
                    spare: 1_000,
                    headers: ["\(Self.timeout): 120"]
                )
                try await eventually("it has given way") {
                    try await client.metric("dnp_telemetry_scrape_timeouts_total") ?? 0 >= 1
                }
                withExtendedLifetime(held) {}
            }
        }

        @Test("a scrape whose client reads nothing or slowly is ended at its deadline")
        func heldScrapeDeadline() async throws {
            try await withService(options: LargePage.options) { service in
                let client = await service.client
                _ = try await client.post(LargePage.events).receipt()
                let whole = try await client.scrape()
                let clock = ContinuousClock()
                let start = clock.now
                let silent = try SilentClient(
                    port: client.port,
                    answersOf: whole.body.count,
                    headers: ["\(Self.timeout): 1.5"]
                )
                try await eventually("the connection is closed and counted") {
                    try await client.metric("dnp_telemetry_scrape_timeouts_total") == 1
                }
                #expect(clock.now - start >= .milliseconds(950))
                try await eventually("its place is free") {
                    try await client.metric("dnp_telemetry_scrape_in_flight") == 1
                }
                #expect(silent.readAll().count < silent.times * whole.body.count, "the rest is not sent")
                try await expectUnsentIsNotCounted(client)
                let slow = try SilentClient(
                    port: client.port,
                    answersOf: whole.body.count,
                    headers: ["\(Self.timeout): 1"]
                )
                try await slow.readSlowly(until: {
                    guard clock.now - start < .seconds(60) else { return true }
                    return try await client.metric("dnp_telemetry_scrape_timeouts_total") == 2
                })
                #expect(try await client.metric("dnp_telemetry_scrape_timeouts_total") == 2)
            }
        }

        /// Of a service that all others have asked for pages as they are, and all but one have read them.
        private func expectUnsentIsNotCounted(_ client: TelemetryClient) async throws {
            let names = ["plain", "sent"].map { "dnp_telemetry_scrape_\($0)_bytes_total" }
            let answer = try await client.scrape(path: "/metrics?name[]=\(names[0])&name[]=\(names[1])")
            let sums = FamilySums(answer)
            let unsent = sums[names[0]] - sums[names[1]] - Double(answer.body.count)
            #expect(unsent > 0, "\(answer.text)")
        }

        @Test("held scrapes do not delay ingest")
        func heldScrapesBeforeIngest() async throws {
            try await withService(options: LargePage.options + Self.patient) { service in
                let client = await service.client
                _ = try await client.post(LargePage.events).receipt()
                let free = try await Self.slowestPost(client, "free")
                let whole = try await client.scrape()
                let held = try (0..<20).map { _ in
                    try SilentClient(
                        port: client.port,
                        answersOf: whole.body.count,
                        headers: ["\(Self.timeout): 120"]
                    )
                }
                try await eventually("all of them are being answered") {
                    try await client.metric("dnp_telemetry_scrape_in_flight") == 21
                }
                let busy = try await Self.slowestPost(client, "busy")
                #expect(try await client.metric("dnp_telemetry_scrape_in_flight") == 21)
                #expect(try await client.metrics().ingestBalance == 0)
                print("20 scrapes held: 100 batches, slowest answer \(busy), without them \(free)")
                withExtendedLifetime(held) {}
            }
        }

        /// The slowest answer to one of 100 batches.
        private static func slowestPost(_ client: TelemetryClient, _ name: String) async throws -> Duration {
            let clock = ContinuousClock()
            var slowest = Duration.zero
            for index in 0..<100 {
                let batch = EventFactory(prefix: "\(name)-\(index)").cycles(0..<20)
                let start = clock.now
                #expect(try await client.post(batch.ndjson).receipt().accepted == batch.count)
                slowest = max(slowest, clock.now - start)
            }
            return slowest
        }

        @Test("scrapes go on while the ledger's writer is blocked, as of the last commit")
        func scrapesBesideAHeldWriter() async throws {
            try await withService { service in
                let client = await service.client
                let first = EventFactory(prefix: "first").cycles(0..<20)
                _ = try await client.post(first.ndjson).receipt()
                let state = await service.settings.stateDirectory
                try await withTemporaryDirectory { directory in
                    // The writer may still be busy with what follows its commit.
                    try Data(".bail on\n.timeout 30000\nBEGIN IMMEDIATE;\n.print held\n".utf8)
                        .write(to: URL(fileURLWithPath: "\(directory)/hold"))
                    let holder = try ChildProcess(
                        ["/usr/bin/sqlite3", "-init", "\(directory)/hold", "\(state)/ledger.sqlite"],
                        logs: directory,
                        name: "holder"
                    )
                    try await eventually("another process holds the ledger") {
                        holder.output.contains(Data("held".utf8))
                    }
                    let second = EventFactory(prefix: "second").cycles(0..<20)
                    async let answer = client.post(second.ndjson)
                    try await eventually("the batch waits for its commit") {
                        try await client.metric("dnp_telemetry_ledger_waiting_submissions") == 1
                    }
                    var slowest = Duration.zero
                    for coding in Array(repeating: ["gzip", "identity"], count: 20).flatMap({ $0 }) {
                        let start = ContinuousClock.now
                        let page = try await client.scrape([("Accept-Encoding", coding)])
                        slowest = max(slowest, ContinuousClock.now - start)
                        #expect(page.status == 200)
                    }
                    #expect(try await client.metric("dnp_telemetry_ledger_sequence") == Double(first.count))
                    #expect(try await client.metric("dnp_telemetry_ledger_waiting_submissions") == 1)
                    print("the writer held: slowest of 40 scrapes \(slowest)")
                    await holder.killAndWait()
                    #expect(try await answer.receipt().accepted == second.count)
                }
            }
        }
    }
}

/// A service whose page exceeds the socket buffers, so that an unread response is held.
enum LargePage {
    /// Without these all apps would share their series.
    static let options = ["--label", "platform", "--label", "app_version"]

    /// One event of each of 120 apps.
    static var events: [UInt8] {
        var lines = ""
        for version in 0..<30 {
            for platform in ["ios", "android", "", "harmony"] {
                lines += """
                    {"event":"prefetch_scheduled","scheduleId":"\(platform)-\(version)","platform":"\(platform)",\
                    "timestamp":"\(EventFactory.stamp(version))","appVersion":"1.\(version)"}

                    """
            }
        }
        return Array(lines.utf8)
    }
}

/// A client that sends several requests and reads the responses late or never; it closes with the value.
///
/// The responses exceed the socket buffers, so that one is held.
final class SilentClient: Sendable {
    struct Failed: Error {
        let what: String
        let code: Int32
    }

    /// As small as the system allows, so that little of a response is buffered unread.
    private static let receiveBuffer: Int32 = 4_096

    /// The maximum of a socket's send buffer: the last number, in bytes (tcp(7)).
    private static let sendBuffers = "/proc/sys/net/ipv4/tcp_wmem"

    private let descriptor: Int32
    /// The number of requests.
    let times: Int

    /// - Parameters:
    ///   - bytes: the size of a response.
    ///   - spare: the number of requests beyond those that fill the buffers.
    init(
        port: Int,
        asking path: String = "/metrics",
        answersOf bytes: Int,
        spare: Int = 0,
        headers: [String] = []
    ) throws {
        let kept = text(of: Self.sendBuffers).split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) }
        times = (kept ?? 4 << 20) / max(bytes, 1) + 2 + spare
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(what: "socket", code: errno) }
        var size = Self.receiveBuffer
        let length = socklen_t(MemoryLayout<Int32>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failed(what: "connect", code: errno) }
        let head = (["GET \(path) HTTP/1.1", "Host: localhost"] + headers).joined(separator: "\r\n") + "\r\n\r\n"
        let requests = Array(String(repeating: head, count: times).utf8)
        let sent = unsafe requests.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, 0) }
        guard sent == requests.count else { throw Failed(what: "send", code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Reads a little at a time until the condition holds.
    func readSlowly(until holds: () async throws -> Bool) async throws {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while try await !holds() {
            _ = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Everything until the other side closes the connection or is silent for five seconds.
    func readAll() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&interest, 1, 5_000) > 0 else { return bytes }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
