// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import CollectorClient
import FleetSimulator
import Foundation
import LogInput
import TextOutput

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where a simulated fleet is sent, by the names that `send` has for this.
struct DeliveryOptions: ParsableArguments {
    private static let mostConnections = 1_000

    @Option(
        help: ArgumentHelp(
            "Send the fleet to a collector as its clients would: http://host:port, https://host, unix:/path/of/socket, or https+unix:/path/of/socket; /v1/events where no path is named.",
            valueName: "url"
        )
    )
    var to: String?

    @Option(help: ArgumentHelp("How many requests may be under way at once.", valueName: "number"))
    var connections = 64

    @Option(
        help: ArgumentHelp("How long a batch is tried: 30s, 5m, 2h; 0s tries once.", valueName: "duration")
    )
    var retryFor = TimeSpan(.seconds(300))

    @Option(help: ArgumentHelp("How long one request may take, its answer included.", valueName: "duration"))
    var timeout = TimeSpan(.seconds(30))

    @Flag(help: "Send bodies as they are, without gzip.")
    var uncompressed = false

    func validate() throws {
        guard (1...Self.mostConnections).contains(connections) else {
            throw ValidationError("expected --connections from 1 to \(Self.mostConnections), found \(connections)")
        }
        guard timeout.duration >= .milliseconds(1) else { throw ValidationError("expected --timeout above 0s") }
    }

    /// - Throws: `ValidationError` for an address that is none.
    func options(_ access: CollectorAccess) throws -> SendOptions {
        do throws(InvalidOption) {
            var options = SendOptions(to: try CollectorURL(to ?? ""), reading: try LineFormat())
            options.access = access
            options.credentials = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
            options.compresses = !uncompressed
            options.retryFor = retryFor.duration
            options.timeout = timeout.duration
            return options
        } catch {
            throw ValidationError("--to: \(error)")
        }
    }
}

/// Sends a fleet to a collector, and shows how that goes.
struct FleetSending {
    /// How long Ctrl-C and the progress line may wait.
    private static let tick = Duration.milliseconds(200)
    /// How many batches of paced devices may be unfinished, of some KB each.
    private static let mostBatches = 4_096

    private enum Happening: Sendable {
        case reply(DeliveryReply, DeliveryRequest)
        case time
    }

    let plan: FleetPlan
    /// How long a day takes; nil where each batch is due once there is room for it.
    let day: Duration?
    let listsEach: Bool
    let options: SendOptions
    /// How many requests may be under way at once.
    let requests: Int
    let quiet: Bool

    /// Sends all of it, and says what must be counted.
    ///
    /// - Throws: `ExitCode` after printing what the collector refused, or why it was not reached.
    func run() async throws -> ToldFleet {
        let connections: ParallelConnections
        do throws(InvalidOption) {
            connections = try ParallelConnections(options)
        } catch {
            Terminal.say("Error: \(error)")
            throw ExitCode(EX_USAGE)
        }
        if connections.tellsSecretInClear, !quiet {
            Terminal.say("the secret goes over the network in clear; use https://")
        }
        var limits = ParallelDelivery.Limits()
        limits.requests = requests
        limits.batches = day == nil ? 2 * requests : Self.mostBatches
        limits.retryFor = options.retryFor
        var delivery = ParallelDelivery(limits)
        var source = FleetSource(plan, day: day, listsEach: listsEach)
        let start = ContinuousClock.now
        await send(from: &source, through: &delivery, over: connections, since: start)
        let elapsed = ContinuousClock.now - start
        await connections.close()
        try Terminal.print(delivery.account.summary(elapsed: elapsed, quiet: quiet))
        try check(delivery)
        return source.told
    }

    private func check(_ delivery: ParallelDelivery) throws {
        switch delivery.ending {
        case nil: if delivery.account.rejected > 0 { throw ExitCode(1) }
        case .interrupted?: throw ExitCode(130)
        case let ending?:
            Terminal.say("Error: seed \(plan.seed): \(options.to): \(ending.problem ?? "")")
            if case .refused = ending { throw ExitCode(1) }
            throw ExitCode(2)
        }
    }

    private func send(
        from source: inout FleetSource,
        through delivery: inout ParallelDelivery,
        over connections: ParallelConnections,
        since start: ContinuousClock.Instant
    ) async {
        let interruption = Interruption()
        var progress = DeliveryProgress(isShown: !quiet)
        var random = SystemRandomNumberGenerator()
        await withTaskGroup(of: Happening.self) { group in
            var wake: Duration?
            while true {
                let now = ContinuousClock.now - start
                if interruption.isRaised { delivery.interrupt() }
                source.fill(&delivery, now: now)
                while let request = delivery.next(now: now) {
                    group.addTask { .reply(await connections.reply(to: request), request) }
                }
                progress.show(delivery, now: now)
                if delivery.isIdle, source.isTold || delivery.ending != nil { break }
                let next = min(now + Self.tick, source.due ?? .never, delivery.nextAttempt ?? .never)
                if next < wake ?? .never {
                    wake = next
                    group.addTask {
                        try? await Task.sleep(until: start + max(next, now + .milliseconds(1)), clock: .continuous)
                        return .time
                    }
                }
                switch await group.next() {
                case .reply(let reply, let request)?:
                    delivery.take(reply, to: request, now: ContinuousClock.now - start, using: &random)
                case .time?, nil: wake = nil
                }
            }
            group.cancelAll()
        }
        progress.clear()
    }
}

/// What a fleet tells, as it is due.
private struct FleetSource {
    private let plan: FleetPlan
    private let listsEach: Bool
    /// The devices where each has a time of its own; nil where a batch is due as soon as there is room for it.
    private var paced: PacedFleet?
    private var batches: FleetBatches
    private(set) var isTold = false
    private var count = 0
    /// Whether there was no room for the batch that is due.
    private var isHeld = false

    init(_ plan: FleetPlan, day: Duration?, listsEach: Bool) {
        (self.plan, self.listsEach) = (plan, listsEach)
        paced = day.map { PacedFleet(plan, day: $0) }
        batches = FleetBatches(plan, listsEach: listsEach)
    }

    /// When the next batch is due; nil where that depends on what is under way.
    var due: Duration? { isHeld ? nil : paced?.due }

    /// What must be counted, once all is told.
    var told: ToldFleet {
        paced.map { ToldFleet($0, listsEach: listsEach) } ?? ToldFleet(batches.truth, each: batches.each)
    }

    /// Hands over what is due.
    mutating func fill(_ delivery: inout ParallelDelivery, now: Duration) {
        guard paced == nil else { return fillPaced(&delivery, now) }
        while !isTold, delivery.hasRoom {
            if let batch = batches.next() { add(batch, to: &delivery, due: now) } else { isTold = true }
        }
    }

    private mutating func fillPaced(_ delivery: inout ParallelDelivery, _ now: Duration) {
        while let due = paced?.due, due <= now {
            guard delivery.hasRoom else {
                isHeld = true
                return
            }
            guard let batch = paced?.next() else { break }
            add(batch, to: &delivery, due: due, heldFor: isHeld ? now - due : .zero)
        }
        isHeld = false
        isTold = paced?.due == nil
    }

    private mutating func add(
        _ batch: FleetBatch,
        to delivery: inout ParallelDelivery,
        due: Duration,
        heldFor: Duration = .zero
    ) {
        // A device without an event sends nothing.
        guard !batch.body.isEmpty else { return }
        let drawn = RequestFaults(plan, batch: count)
        count += 1
        var faults = DeliveryFaults()
        faults.losesRequest = drawn.isLostBefore
        faults.losesAnswer = drawn.isLostAfter
        faults.splits = drawn.isSplit
        faults.repeats = drawn.isRepeated
        faults.cut = drawn.cut
        delivery.add(batch.body, lane: batch.lane, due: due, faults: faults, heldFor: heldFor)
    }
}

/// The progress of a delivery on standard error: a line that is replaced each second on a terminal, and one every ten
/// seconds elsewhere.
private struct DeliveryProgress {
    private let isShown: Bool
    private let isTerminal = Terminal.isTerminal(Terminal.error)
    private var shownAt = Duration.zero
    private var shownEvents: UInt64 = 0

    init(isShown: Bool) { self.isShown = isShown }

    mutating func show(_ delivery: ParallelDelivery, now: Duration) {
        let passed = now - shownAt
        guard isShown, passed >= .seconds(isTerminal ? 1 : 10) else { return }
        let events = delivery.account.events
        let line = delivery.account.line(
            waiting: delivery.unfinished,
            eventsPerSecond: Double(events - shownEvents) / (passed / .seconds(1)),
            trouble: delivery.trouble
        )
        (shownAt, shownEvents) = (now, events)
        if isTerminal { Terminal.replaceLine(line) } else { Terminal.say(line) }
    }

    func clear() { if isShown, isTerminal, shownAt > .zero { Terminal.replaceLine("") } }
}

extension Duration {
    fileprivate static let never = Duration.seconds(Int64.max)
}
