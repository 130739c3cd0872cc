// SPDX-License-Identifier: Apache-2.0

import LogInput
import TelemetryEvents

@testable import LogValidation
@testable import PrefetchLifecycle

/// What the product makes of a history.
struct ProductAnswer {
    var counts: [String: Int] = [:]
    var cycles: [AnsweredCycle] = []

    struct AnsweredCycle {
        var name: CycleName
        var outcome: String
        var violations: Set<String>
        var failureReason: String?
        var stages: [String: Int]
    }

    /// The answer of `validate` to parts of one input, which are read one after the other.
    static func validate(_ parts: [[String]], installations: Set<String>, readAt: Int) throws -> ProductAnswer {
        let now = Timestamp(seconds: Int64(readAt))
        let options = JudgementOptions(try LineFormat(timezone: "UTC"))
        let pseudonyms = EphemeralPseudonyms()
        let folding = InputFolding(options, pseudonyms.identityKey, openCycles: 4_096)
        var listing = JudgementListing(options, pseudonyms, openCycles: 4_096)
        func list(_ piece: BoundPiece, _ input: Int) {
            listing.add(folding.fold(piece, readAt: now), input: input, readAt: now)
        }
        var binding = InputBinding(options.lines, pseudonyms)
        var parser = LogParser(options.lines, pseudonyms: pseudonyms, identityKey: pseudonyms.identityKey)
        for part in parts {
            let bytes = Array(part.map { $0 + "\n" }.joined().utf8)
            let parsed = parser.parse(bytes.span, readAt: now)
            binding.bind(.lines(parsed), input: 0, readAt: now, emit: list)
        }
        let end = JudgedInput(name: "history", lines: parser.counts)
        binding.bind(.end(end), input: 0, readAt: now, emit: list)
        binding.finish(readAt: now, emit: list)
        listing.add(folding.finish(), input: 0, readAt: now)
        let judgement = listing.finish()
        let names = Self.names(of: installations, pseudonyms)
        var answer = ProductAnswer()
        answer.count(judgement.totals)
        answer.cycles = judgement.cycles.map { cycle in
            AnsweredCycle(cycle.closed, installation: names[cycle.closed.installation], id: cycle.scheduleId)
        }
        return answer
    }

    /// The answer of the service's fold to batches of events, each of which it accepts once.
    static func service(_ batches: [[ToldEvent]], readAt: Int) throws -> ProductAnswer {
        let now = Timestamp(seconds: Int64(readAt))
        let pseudonyms = EphemeralPseudonyms()
        let key = pseudonyms.identityKey
        var fold = LifecycleFold(key: key, keepsClosedCycles: true)
        var ids: [UInt64: String] = [:]
        for batch in batches {
            var accepted = EventBatch()
            for told in batch {
                let decoded = JSONEventDecoder.decode(
                    Array(told.json.utf8).span,
                    framing: .lines,
                    receivedAt: now,
                    pseudonyms: pseudonyms,
                    identityKey: key
                )
                let bytes = decoded.events.bytes
                var cursor = EventCursor()
                guard let event = try cursor.next(in: bytes.span) else { throw Refused(event: told.json) }
                if let id = told.id, let schedule = key.schedule(of: event, in: bytes.span) { ids[schedule] = id }
                if fold.propose(key.identity(of: event, in: bytes.span)) { accepted.append(event, texts: bytes.span) }
            }
            try fold.apply(accepted.bytes.span, receivedAt: now)
            fold.clearProposals()
        }
        fold.finish()
        let names = Self.names(of: Set(batches.joined().compactMap(\.installation)), pseudonyms)
        var answer = ProductAnswer()
        answer.count(fold.totals)
        answer.cycles = fold.takeClosedCycles().map { cycle in
            AnsweredCycle(cycle, installation: names[cycle.installation], id: cycle.schedule.flatMap { ids[$0] })
        }
        return answer
    }

    /// An event of a history that the product does not take.
    struct Refused: Error {
        let event: String
    }

    private static func names(of installations: Set<String>, _ pseudonyms: EphemeralPseudonyms) -> [UInt64: String] {
        let pairs = installations.map { (pseudonyms.pseudonym(of: Array($0.utf8).span).fingerprint, $0) }
        return Dictionary(pairs) { first, _ in first }
    }

    private mutating func count(_ totals: LifecycleTotals) {
        counts = [
            "scheduled": Int(clamping: totals.scheduled), "executed": Int(clamping: totals.executed),
            "success": Int(clamping: totals.success),
            "used": Int(clamping: totals.used), "retries": Int(clamping: totals.retries),
            "implied success": Int(clamping: totals.impliedSuccess),
            "implied used": Int(clamping: totals.impliedUsed),
        ]
        // A counter that went below zero is huge, which shall be told and not trap.
        for reason in FailureReason.allCases {
            counts["failure \(reason.name)"] = Int(clamping: totals.failure(reason))
        }
        counts["failure"] = FailureReason.allCases.reduce(0) { $0 &+ Int(clamping: totals.failure($1)) }
        for stage in [LifecycleStage.scheduled, .executed, .success, .used] {
            counts["recovered \(stage)"] = Int(clamping: totals.recovered(stage))
        }
    }
}

extension ReferenceModel {
    /// Whether the product takes events about a granted permission.
    static let knowsGrants = EventKind.allCases.contains { "\($0.name)" == "permission_granted" }
}

extension ProductAnswer.AnsweredCycle {
    fileprivate init(_ closed: ClosedCycle, installation: String?, id: String?) {
        name = CycleName(installation: installation, id: id, due: closed.notificationTime.map(Self.seconds))
        outcome = "\(closed.outcome.name)"
        // The model knows the rules up to `expired`.
        let known = closed.violations.filter { $0.kind.rawValue <= ViolationKind.expired.rawValue }
        violations = Set(known.map { "\($0.kind.name)" })
        failureReason = closed.failureReason.map { "\($0.name)" }
        let times = [
            "scheduled": closed.stages.scheduled, "executed": closed.stages.executed, "failure": closed.stages.failure,
            "delivered": closed.stages.delivered,
        ]
        stages = times.compactMapValues { $0.map(Self.seconds) }
    }

    private static func seconds(_ time: Timestamp) -> Int { Int(time.microseconds / 1_000_000) }
}
