// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("The state of binding log lines, its limits and restarts")
struct LogBinderStateTests {
    @Test("neither chunk boundaries nor a restart between chunks change the events")
    func chunksAndRestartsChangeNothing() throws {
        let log = """
            11-15 05:41:00.000  4242  4260 I DNP-FETCH: Startup complete (hasPendingSchedules=false)
            2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            2025-11-15T05:41:01Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T05:53:00Z)
            2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-15T05:50:00Z [DNP-FETCH] Cached content MD5: abcd
            2025-11-15T05:50:03Z [DNP-FETCH] Fetch failed (error=NetworkError, httpStatus=0, willRetry=false)
            [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            [DNP-FETCH] Starting fetch
            [BackgroundRefresh] Background refresh task started
            [BackgroundRefresh] Background refresh task started
            [BackgroundRefresh] Skipping refresh: No network connection
            2025-11-15T05:53:00Z [DNP-FETCH] No cached content, falling back to on-demand fetch
            2025-11-15T05:53:00Z [DNP-SCHEDULER] Notification scheduled/delivered
            2025-11-15T06:20:00Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-15T05:53:00Z
            2025-11-15T06:20:00Z [DNP-FETCH] Using cached content MD5: 0123456789abcdef0123456789abcdef
            [ 11-15 05:53:01.000  4242: 4260 I/DNP-PLUGIN ]
            Prefetch cycle complete (id=a, fetched=false, usedCached=false)

            __REALTIME_TIMESTAMP=1763189582000000
            MESSAGE=[DNP-SCHEDULER] Notification scheduled/delivered
            _PID=7

            """
        let whole = try LogReading(log).events.sorted()
        let lines = log.split(separator: "\n", omittingEmptySubsequences: false).map { Array("\($0)\n".utf8) }
        #expect(try LogReading(lines).events.sorted() == whole)

        for cut in 1..<lines.count {
            var first = logDecoder()
            let head = Array(lines[..<cut].joined())
            let tail = Array(lines[cut...].joined())
            var events = try canonical(first.decode(head.span, readAt: readingTime))
            var second = try LogDecoder(
                restoring: first.state,
                LogDecoderOptions(),
                pseudonyms: PlainPseudonyms(),
                identityKey: IdentityKey(1, 2)
            )
            #expect(second.state == first.state)
            events += try canonical(second.decode(tail.span, readAt: readingTime))
            events += try canonical(second.flush(readAt: readingTime))
            #expect(events.sorted() == whole, "cut at \(cut)")
        }
    }

    @Test("a damaged decoder state and one of another key are refused")
    func damagedStateIsRefused() throws {
        var decoder = logDecoder()
        let log = Array(
            """
            11-15 05:41:00.000  4242  4260 I DNP-FETCH: Registering BGTaskScheduler task (id=x)
            2025-11-15T05:41:00+0000 phone app[7]: [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            2025-11-15T05:41:00+0000 phone app[7]: [DNP-FETCH] Cached content MD5: abcd
            """.utf8
        )
        _ = decoder.decode(log.span, readAt: readingTime)
        let state = decoder.state
        func restore(_ state: [UInt8]) -> LogDecoder? {
            try? LogDecoder(
                restoring: state,
                LogDecoderOptions(),
                pseudonyms: PlainPseudonyms(),
                identityKey: IdentityKey(1, 2)
            )
        }
        for end in state.indices { #expect(restore(Array(state[..<end])) == nil) }
        for index in state.indices {
            for bit in 0..<8 {
                var damaged = state
                damaged[index] ^= 1 << UInt8(bit)
                #expect(restore(damaged) == nil)
            }
        }
        let otherKey = try? LogDecoder(
            restoring: state,
            LogDecoderOptions(),
            pseudonyms: PlainPseudonyms(),
            identityKey: IdentityKey(1, 3)
        )
        #expect(otherKey == nil)
        #expect(restore(state) != nil)
    }

    @Test("the least recently used of too many devices is evicted")
    func leastRecentDeviceIsEvicted() throws {
        func line(_ device: String, _ text: String) -> String {
            "<13>Nov 15 05:48:00 \(device) App[1]: [DNP-FETCH] \(text)"
        }
        var lines = [line("first", "Scheduling prefetch for notification at 2025-11-15T05:53:00Z")]
        for index in 0..<200 {
            lines.append(line("d\(index)", "Task completed"))
            lines.append(line("first", "API call"))
        }
        lines.append(line("first", "BGTask handler invoked"))
        let reading = try LogReading(lines.joined(separator: "\n"))
        #expect(reading.bound.last { $0.hasPrefix("prefetch_executed") }?.hasSuffix(" 2025-11-15T05:53:00Z") == true)
    }

    @Test("an event held at the end of a long chunk survives a restart")
    func heldEventSurvivesARestart() throws {
        var decoder = logDecoder()
        let log = Array(repeating: "\n", count: 2 << 20).joined() + "[DNP-FETCH] Fetch failed error="
        _ = decoder.decode(Array(log.utf8).span, readAt: readingTime)
        var second = try LogDecoder(
            restoring: decoder.state,
            LogDecoderOptions(),
            pseudonyms: PlainPseudonyms(),
            identityKey: IdentityKey(1, 2)
        )
        #expect(second.flush(readAt: readingTime).events.count == 1)
    }

    @Test("a held event before 1970 does not count as a damaged state")
    func oldHeldEventIsNoDamage() throws {
        var decoder = logDecoder()
        let log = Array("0001-01-01T00:00:00Z [DNP-FETCH] BGTask handler invoked\n".utf8)
        _ = decoder.decode(log.span, readAt: readingTime)
        let state = decoder.state
        var second = try LogDecoder(
            restoring: state,
            LogDecoderOptions(),
            pseudonyms: PlainPseudonyms(),
            identityKey: IdentityKey(1, 2)
        )
        #expect(second.flush(readAt: readingTime).rejections.map(\.reason) == [.timestampTooOld])
    }

    @Test("cycles and held events are bounded, and evicting the oldest loses no event")
    func evictionLosesNoEvent() throws {
        var log = ""
        for index in 0..<500 {
            let minute = index % 60 < 10 ? "0\(index % 60)" : "\(index % 60)"
            log += "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T0\(index / 60):\(minute):00Z\n"
            log += "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-14T05:48:00Z)\n"
        }
        let reading = try LogReading(log)
        #expect(reading.bound.count == 500)
        #expect(Set(reading.bound).count == 500)
    }
}
