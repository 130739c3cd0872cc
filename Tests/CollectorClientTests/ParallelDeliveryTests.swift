// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import CollectorClient

@Suite("The delivery of many clients")
struct ParallelDeliveryTests {
    /// A delivery whose requests are answered by hand.
    private struct Bench {
        var delivery: ParallelDelivery
        var random = SplitMix64(seed: 1)

        init(_ change: (inout ParallelDelivery.Limits) -> Void = { _ in }) {
            var limits = ParallelDelivery.Limits()
            change(&limits)
            delivery = ParallelDelivery(limits)
        }

        mutating func add(
            _ text: String,
            lane: Int = 0,
            due: Duration = .zero,
            _ change: (inout DeliveryFaults) -> Void = { _ in }
        ) {
            var faults = DeliveryFaults()
            change(&faults)
            delivery.add(Array(text.utf8), lane: lane, due: due, faults: faults)
        }

        mutating func reply(_ kind: DeliveryReply.Kind, to request: DeliveryRequest, now: Duration = .zero) {
            delivery.take(DeliveryReply(kind: kind), to: request, now: now, using: &random)
        }

        /// The next request, which there must be.
        mutating func request(now: Duration = .zero) throws -> DeliveryRequest {
            let request = delivery.next(now: now)
            return try #require(request)
        }

        /// Sends the next request and answers it; nil where there is none.
        mutating func exchange(_ kind: DeliveryReply.Kind, now: Duration = .zero) -> String? {
            guard let request = delivery.next(now: now) else { return nil }
            reply(kind, to: request, now: now)
            return request.text
        }

        /// Sends and answers everything that can be sent now.
        mutating func drain(now: Duration = .zero) -> [String] {
            var sent: [String] = []
            while let request = delivery.next(now: now) {
                sent.append(request.text)
                reply(request.loss == nil ? .stored(1) : .lost, to: request, now: now)
            }
            return sent
        }
    }

    @Test("a client's batches are sent in their order and one at a time, those of others beside them")
    func lanes() throws {
        var bench = Bench()
        bench.add("a1\n", lane: 1)
        bench.add("a2\n", lane: 1)
        bench.add("b1\n", lane: 2)
        let first = try bench.request()
        let other = try bench.request()
        #expect([first.text, other.text] == ["a1\n", "b1\n"])
        #expect(bench.delivery.next(now: .zero) == nil)
        bench.reply(.stored(1), to: first)
        #expect(bench.exchange(.stored(1)) == "a2\n")
        #expect(!bench.delivery.isIdle)
        bench.reply(.stored(1), to: other)
        #expect(bench.delivery.isIdle && bench.delivery.account.accepted == 3 && bench.delivery.account.batches == 3)
    }

    @Test("no more requests are under way than allowed, and no more batches are taken than allowed")
    func bounds() throws {
        var bench = Bench { ($0.requests, $0.batches) = (2, 3) }
        for lane in 0..<3 {
            #expect(bench.delivery.hasRoom)
            bench.add("\(lane)\n", lane: lane)
        }
        #expect(!bench.delivery.hasRoom)
        let requests = [bench.delivery.next(now: .zero), bench.delivery.next(now: .zero)].compactMap { $0 }
        #expect(requests.count == 2 && bench.delivery.next(now: .zero) == nil)
        bench.reply(.stored(1), to: requests[0])
        #expect(bench.delivery.hasRoom && bench.delivery.next(now: .zero) != nil)
    }

    @Test("latencies count from when a batch was due, whatever it waited for")
    func latencyFromDueTime() {
        var bench = Bench()
        bench.add("a1\n", due: .seconds(1))
        bench.add("a2\n", due: .seconds(2))
        #expect(bench.exchange(.stored(1), now: .seconds(9)) == "a1\n")
        #expect(bench.exchange(.stored(1), now: .seconds(10)) == "a2\n")
        let account = bench.delivery.account
        #expect(account.latency(ofPercent: 50) == .seconds(8) && account.latency(ofPercent: 100) == .seconds(8))
    }

    @Test("a batch for which there was no room is told with how long it was held back")
    func heldBack() {
        var bench = Bench()
        bench.delivery.add(Array("a\n".utf8), lane: 0, due: .zero, heldFor: .milliseconds(1_500))
        bench.delivery.add(Array("b\n".utf8), lane: 0, due: .zero, heldFor: .milliseconds(20))
        let words = "the queue was full: 2 batches were held back, for 1.5 s at most"
        #expect(bench.delivery.account.summary(elapsed: .seconds(1), quiet: false).contains(words))
        #expect(bench.delivery.account.line(waiting: 2, eventsPerSecond: 0, trouble: nil).contains(words))
    }

    @Test("the progress has the rate, answers by status, latencies and why a batch is retried on a line")
    func progress() {
        var bench = Bench()
        bench.add("a\n", lane: 1)
        bench.add("b\n", lane: 2)
        #expect(bench.exchange(.stored(1), now: .milliseconds(3)) == "a\n")
        #expect(bench.exchange(.answer(status: 503, .again("HTTP 503", after: nil)), now: .milliseconds(4)) == "b\n")
        let delivery = bench.delivery
        #expect(
            delivery.account.line(waiting: delivery.unfinished, eventsPerSecond: 250.7, trouble: delivery.trouble)
                == "1 batches, 1 waiting, 250 events/s; 1 of 200, 1 of 503; "
                + "p50 3.0 ms, p90 3.0 ms, p99 3.0 ms, max 3.0 ms; trying again: HTTP 503"
        )
    }

    @Test("a batch is sent again after a pause of at least its Retry-After, and the next one of its client behind it")
    func retryAfter() throws {
        var bench = Bench()
        bench.add("a1\n", lane: 1)
        bench.add("a2\n", lane: 1)
        bench.add("b1\n", lane: 2)
        #expect(bench.exchange(.answer(status: 503, .again("busy", after: .seconds(7)))) == "a1\n")
        #expect(bench.delivery.trouble == "busy")
        #expect(bench.exchange(.stored(1)) == "b1\n")
        #expect(bench.delivery.trouble == nil)
        #expect(bench.exchange(.stored(1), now: .seconds(6)) == nil)
        #expect(bench.delivery.nextAttempt == .seconds(7))
        #expect(bench.drain(now: .seconds(7)) == ["a1\n", "a2\n"])
        #expect(bench.delivery.account.retries == 1)
        #expect(
            bench.delivery.account.summary(elapsed: .seconds(7), quiet: false).contains("answers: 3 of 200, 1 of 503\n")
        )
    }

    @Test("a collector that is not reached is tried for so long, and then the delivery ends")
    func givesUp() {
        var bench = Bench { $0.retryFor = .seconds(10) }
        bench.add("a\n")
        let refused = DeliveryReply.Kind.noAnswer(Unreachable(reason: "connection refused"))
        var attempts = 0
        for second in 0...10 { while bench.exchange(refused, now: .seconds(second)) != nil { attempts += 1 } }
        #expect(attempts > 2)
        #expect(bench.delivery.ending == .unreachable("connection refused"))
        #expect(bench.delivery.isIdle && !bench.delivery.hasRoom && bench.delivery.account.batches == 0)
    }

    @Test("a refusal, and what no retry mends, ends the delivery at once")
    func refusals() {
        for (kind, ending) in [
            (DeliveryReply.Kind.answer(status: 403, .refused("HTTP 403")), SendResult.Ending.refused("HTTP 403")),
            (.noAnswer(Unreachable(reason: "it is a file", isFinal: true)), .unreachable("it is a file")),
            (.answer(status: 413, .tooLarge("HTTP 413")), .refused("HTTP 413")),
        ] {
            var bench = Bench()
            bench.add("a\n", lane: 1)
            bench.add("b\n", lane: 2)
            #expect(bench.exchange(kind) == "a\n")
            #expect(bench.delivery.ending == ending)
            #expect(bench.delivery.next(now: .seconds(60)) == nil && bench.delivery.isIdle)
        }
    }

    @Test("a batch that is too large is halved under other keys until it fits")
    func halves() throws {
        var bench = Bench()
        bench.add("1\n2\n3\n4\n")
        bench.add("5\n")
        var sent: [String] = []
        var keys: Set<String> = []
        while let request = bench.delivery.next(now: .zero) {
            let isLarge = request.text.utf8.count > 4
            bench.reply(isLarge ? .answer(status: 413, .tooLarge("HTTP 413")) : .stored(2), to: request)
            sent.append(request.text)
            keys.insert(request.batch.key)
        }
        #expect(sent == ["1\n2\n3\n4\n", "1\n2\n", "3\n4\n", "5\n"])
        #expect(keys.count == 4)
        #expect(bench.delivery.account.batches == 2 && bench.delivery.isIdle)
    }

    @Test("a batch whose request or answer is lost is sent again under its key")
    func losses() throws {
        var bench = Bench()
        bench.add("1\n2\n") { ($0.losesRequest, $0.losesAnswer, $0.cut) = (true, true, 250_000) }
        let first = try bench.request()
        guard case .whileSending(250_000)? = first.loss else {
            Issue.record("the first request is not lost")
            return
        }
        bench.reply(.lost, to: first)
        let second = try bench.request()
        guard case .answer? = second.loss else {
            Issue.record("the second answer is not lost")
            return
        }
        bench.reply(.lost, to: second)
        let third = try bench.request()
        #expect(third.loss == nil)
        #expect(Set([first, second, third].map(\.batch.key)).count == 1)
        #expect(bench.delivery.account.batches == 0)
        bench.reply(.stored(2), to: third)
        #expect(bench.delivery.isIdle && bench.delivery.account.batches == 1)
    }

    @Test(
        "a batch that is split is sent whole, and then in two pieces that have all of it",
        arguments: [0, 400_000, 999_999] as [Int64]
    )
    func splits(cut: Int64) throws {
        var bench = Bench()
        bench.add("1\n2\n3\n4\n5\n") { ($0.splits, $0.cut) = (true, cut) }
        let sent = bench.drain()
        #expect(sent.count == 3 && sent[0] == "1\n2\n3\n4\n5\n")
        #expect(sent[1] + sent[2] == sent[0] && !sent[1].isEmpty && !sent[2].isEmpty)
        #expect(bench.delivery.account.batches == 1)
        bench.add("1\n") { $0.splits = true }
        #expect(bench.drain() == ["1\n"], "one event cannot be divided")
    }

    @Test("a batch that is sent twice has its latency from the first acknowledgement, and its rejections count once")
    func repeats() {
        var bench = Bench()
        bench.add("1\n") { $0.repeats = true }
        let rejected = BatchOutcome.Receipt(accepted: 0, duplicates: 0, rejected: [.init(index: 0, reason: "no kind")])
        #expect(bench.exchange(.answer(status: 200, .taken(rejected)), now: .seconds(1)) == "1\n")
        #expect(bench.delivery.account.batches == 1 && !bench.delivery.isIdle)
        #expect(bench.exchange(.answer(status: 200, .taken(rejected)), now: .seconds(5)) == "1\n")
        #expect(bench.delivery.isIdle && bench.delivery.account.rejected == 1)
        #expect(bench.delivery.account.latency(ofPercent: 100) == .seconds(1))
        #expect(
            bench.delivery.account.summary(elapsed: .seconds(5), quiet: false)
                .hasPrefix("0 accepted, 0 duplicate, 1 rejected\n  the first: no kind\n")
        )
    }

    @Test("an interrupted delivery sends nothing more, and counts what is answered yet")
    func interrupted() throws {
        var bench = Bench()
        bench.add("a\n", lane: 1)
        bench.add("b\n", lane: 2)
        let request = try bench.request()
        bench.delivery.interrupt()
        #expect(bench.delivery.next(now: .zero) == nil && !bench.delivery.isIdle && !bench.delivery.hasRoom)
        bench.reply(.stored(1), to: request)
        #expect(bench.delivery.isIdle && bench.delivery.ending == .interrupted && bench.delivery.account.accepted == 1)
    }

    @Test("the same events have the same key, other events another one")
    func keys() throws {
        var bench = Bench()
        bench.add("1\n", lane: 1)
        bench.add("1\n", lane: 2)
        bench.add("2\n", lane: 3)
        let keys = (0..<3).compactMap { _ in bench.delivery.next(now: .zero)?.batch.key }
        #expect(keys.count == 3 && keys[0] == keys[1] && keys[1] != keys[2])
    }
}

extension DeliveryRequest {
    fileprivate var text: String { String(decoding: batch.body, as: UTF8.self) }
}

extension DeliveryReply.Kind {
    /// A receipt for so many new events.
    fileprivate static func stored(_ events: UInt64) -> Self {
        .answer(status: 200, .taken(BatchOutcome.Receipt(accepted: events, duplicates: 0, rejected: [])))
    }
}
