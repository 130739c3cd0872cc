// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("send with an unreliable collector")
struct SendRetryTests {
    /// Starts a `send` of events in a file, and ends it with the body.
    private func withSend<Value>(
        _ batch: EventBatch,
        to port: Int,
        _ options: [String] = [],
        _ body: (ChildProcess) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/events.ndjson"
            try Data(batch.ndjson).write(to: URL(fileURLWithPath: file))
            let process = try ChildProcess(
                [try Service.binary(), "send", file, "--to", "http://127.0.0.1:\(port)", "--format", "json"]
                    + options,
                logs: directory,
                name: "send"
            )
            do {
                let value = try await body(process)
                await process.killAndWait()
                return value
            } catch {
                await process.killAndWait()
                throw error
            }
        }
    }

    @Test("send delivers every event once to a service that is killed repeatedly", .timeLimit(.minutes(3)))
    func sendSurvivesKills() async throws {
        // So many that the first kill comes long before the last of them.
        let batch = EventFactory(prefix: "kill").cycles(0..<60_000)
        try await withService { service in
            let client = await service.client
            try await withSend(batch, to: client.port) { process in
                for round in 1...3 {
                    try await eventually("another batch is stored", every: .milliseconds(1)) {
                        let page = try? await client.metrics()
                        let hasEnded = await process.exitStatus != nil
                        return hasEnded
                            || (page?.sum("dnp_telemetry_events_accepted_total") ?? 0) >= Double(round * 5_000)
                    }
                    await service.kill()
                    try await service.start()
                }
                #expect(try await process.waitForExit(within: .seconds(90)) == .code(0))
                let sent = try SentOutput(process)
                #expect(sent.accepted + sent.duplicates == batch.count)
                #expect(sent.retries > 0)
                let page = try await client.metrics()
                #expect(page.lifecycle == batch.totals.series)
                #expect(page.ingestBalance == 0)
            }
        }
    }

    @Test("send waits for a service that starts late")
    func sendWaitsForService() async throws {
        let port = try FreePort.any()
        let batch = EventFactory(prefix: "late").cycles(0..<50)
        try await withSend(batch, to: port) { process in
            try await eventually("it says that it waits") {
                process.errorText.hasPrefix("not sent yet: connection refused; trying again for 5 min\n")
            }
            try await withService(listen: "127.0.0.1:\(port)") { service in
                #expect(try await process.waitForExit(within: .seconds(60)) == .code(0))
                let sent = try SentOutput(process)
                #expect(sent.accepted == batch.count && sent.retries > 0)
                #expect(try await service.client.metrics().lifecycle == batch.totals.series)
            }
            #expect(process.errorText.contains("\nsent after "))
        }
    }

    @Test("send gives up a service that stays away in time, and says what to do")
    func sendGivesUp() async throws {
        let port = try FreePort.any()
        let batch = EventFactory(prefix: "never").cycles(0..<5)
        try await withSend(batch, to: port, ["--retry-for", "700ms"]) { process in
            #expect(try await process.waitForExit() == .code(3))
            let sent = try SentOutput(process)
            #expect(sent.ending == "unreachable" && sent.accepted == 0 && sent.retries > 0)
            #expect(process.errorText.contains("Error: http://127.0.0.1:\(port)/v1/events: connection refused\n"))
        }
    }

    @Test("Ctrl-C ends send soon while the collector is away")
    func sendInterruptedWhileAway() async throws {
        let port = try FreePort.any()
        try await withSend(EventFactory(prefix: "gone").cycles(0..<5), to: port) { process in
            try await eventually("it waits") { process.errorText.contains("not sent yet") }
            await process.signal(SIGINT)
            #expect(try await process.waitForExit(within: .seconds(20)) == .code(130))
            #expect(try SentOutput(process).ending == "interrupted")
        }
    }

    @Test("send splits its batches for a collector that takes only small bodies", .timeLimit(.minutes(2)))
    func sendSplitsBodies() async throws {
        let batch = EventFactory(prefix: "small").cycles(0..<300)
        try await withService(options: ["--max-body", "8192"]) { service in
            let client = await service.client
            try await withSend(batch, to: client.port, ["--uncompressed"]) { process in
                #expect(try await process.waitForExit() == .code(0))
                let sent = try SentOutput(process)
                #expect(sent.accepted == batch.count && sent.batches > 10)
                #expect(try await client.metrics().lifecycle == batch.totals.series)
            }
        }
    }

    @Test("the memory of send does not grow with the input", .timeLimit(.minutes(3)))
    func sendMemory() async throws {
        var peaks: [Int] = []
        for cycles in [5_000, 30_000] {
            let batch = EventFactory(prefix: "memory").cycles(0..<cycles)
            let peak = try await withService { service in
                let port = await service.client.port
                return try await withSend(batch, to: port) { process in
                    var peak = 0
                    let id = await process.identifier
                    while await process.exitStatus == nil {
                        peak = max(peak, Self.peakMemory(of: id))
                        try await Task.sleep(for: .milliseconds(2))
                    }
                    #expect(try SentOutput(process).accepted == batch.count)
                    return peak
                }
            }
            peaks.append(peak)
        }
        print("send: at most \(peaks) KiB for 19,000 and 114,000 events")
        #expect(peaks[0] > 0 && peaks[1] < peaks[0] + 12 << 10)
    }

    /// In KiB.
    private static func peakMemory(of process: Int32) -> Int {
        // A file of /proc tells no size, so it is read as a stream.
        guard let file = FileHandle(forReadingAtPath: "/proc/\(process)/status"), let data = try? file.readToEnd()
        else {
            return 0
        }
        let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
