// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Histories of chance, judged by the product and by the reference model.
///
/// `DNP_HISTORIES=1000..<21000` chooses other seeds (CONTRIBUTING.md).
@Suite("Histories of chance against the reference model")
struct ReferenceModelTests {
    /// The seeds that are judged, in pieces.
    static let seeds: [Range<UInt64>] = {
        let chosen = ProcessInfo.processInfo.environment["DNP_HISTORIES"] ?? ""
        let bounds = chosen.split(separator: "..<").compactMap { UInt64($0) }
        let all = bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : 0..<100
        let length = max(20, (all.upperBound - all.lowerBound) / 50)
        return stride(from: all.lowerBound, to: all.upperBound, by: Int(length)).map {
            $0..<min($0 + length, all.upperBound)
        }
    }()

    @Test("validate and the service judge histories of chance as the reference model does", arguments: seeds)
    func judgedAsTheModelDoes(seeds: Range<UInt64>) {
        for seed in seeds {
            let history = StoryGenerator.history(seed: seed)
            Trial.validate.check(history, seed)
            Trial.service.check(history, seed)
        }
    }

    @Test(
        "order of arrival, repetition and batches change only what the reference model lets them change",
        arguments: seeds
    )
    func retoldHistories(seeds: Range<UInt64>) {
        for seed in seeds {
            let history = StoryGenerator.history(seed: seed)
            var random = SplitMix64(seed: ~seed)
            let shuffled = history.shuffled(using: &random)
            Trial.validate.check(shuffled, seed)
            Trial.serviceInSmallBatches.check(shuffled, seed)
            var doubled = shuffled
            for event in history where Int.random(in: 0..<3, using: &random) == 0 {
                doubled.insert(event, at: Int.random(in: 0...doubled.count, using: &random))
            }
            Trial.validateInSmallParts.check(doubled, seed)
            Trial.service.check(doubled, seed)
        }
    }

    @Test(
        "histories of chance told as log lines, and as lines and events, are judged as the model does",
        arguments: seeds
    )
    func historiesToldAsLines(seeds: Range<UInt64>) {
        for seed in seeds {
            let history = StoryLines.tellable(StoryGenerator.history(seed: seed))
            guard !history.isEmpty else { continue }
            Trial.lines.check(history, seed)
            Trial.linesAndEvents.check(history, seed)
        }
    }

    @Test("a fault planted in the model is found and shrinks to a few events", arguments: PlantedFault.all)
    func plantedFaultsAreFound(fault: PlantedFault) throws {
        let (trial, planted) = (Trial.validate, ReferenceModel(rules: fault.rules))
        func isFound(_ history: [ToldEvent]) -> Bool {
            trial.differences(history).isEmpty && !trial.differences(history, model: planted).isEmpty
        }
        let seed = try #require((0..<500 as Range<UInt64>).first { isFound(StoryGenerator.history(seed: $0)) })
        var shrinking = Shrinking(while: isFound)
        let shrunk = shrinking.shrunk(StoryGenerator.history(seed: seed))
        #expect(isFound(shrunk))
        #expect(shrunk.count <= fault.events, "\(trial.report(shrunk, seed, model: planted))")
    }

    @Test("a history that nobody can judge in one way is not compared")
    func openQuestionsAreNotCompared() {
        let time = 1_763_164_800
        let history = [("a", 1), ("b", 2), (nil, 3)].map { id, second in
            ToldEvent("prefetch_executed", time + second).with { ($0.id, $0.due) = (id, time + 60) }
        }
        #expect(ReferenceModel().expectation(of: history).openQuestion == "two schedules have one time")
    }
}

/// A rule of the model that is changed on purpose.
struct PlantedFault: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var rules = ReferenceModel.Rules()
    /// The most events that show it.
    var events: Int

    private init(_ name: String, events: Int, _ change: (inout ReferenceModel.Rules) -> Void) {
        testDescription = name
        self.events = events
        change(&rules)
    }

    static let all = [
        PlantedFault("a start window of ten minutes", events: 2) { $0.startWindow = 600 },
        PlantedFault("a tolerated drift of a minute", events: 2) { $0.toleratedDrift = 60 },
        PlantedFault("a lead of 61 s", events: 1) { $0.minimumLead = 61 },
        PlantedFault("a next task within an hour", events: 3) { $0.nextTask = 3_600 },
        PlantedFault("the largest ttl", events: 4) { $0.heldAgainstTheLatestTTL = false },
        PlantedFault("retries that count as failures", events: 2) { $0.retriesAreForgiven = false },
    ]
}

/// A way through the product.
struct Trial: Sendable {
    let name: String
    let reading: ReferenceModel.Reading
    var isInLines = false
    /// The input as it can be given to `validate`.
    let input: @Sendable ([ToldEvent]) -> [String]
    let answer: @Sendable ([ToldEvent], _ input: [String], _ readAt: Int) throws -> ProductAnswer

    static let validate = Trial(name: "validate", reading: .validate, input: events) { history, input, readAt in
        try ProductAnswer.validate([input], installations: installations(history), readAt: readAt)
    }
    static let validateInSmallParts = Trial(name: "validate in parts", reading: .validate, input: events) {
        history,
        input,
        readAt in
        try ProductAnswer.validate(input.map { [$0] }, installations: installations(history), readAt: readAt)
    }
    static let service = Trial(name: "service", reading: .service, input: events) { history, _, readAt in
        try ProductAnswer.service([history], readAt: readAt)
    }
    static let serviceInSmallBatches = Trial(name: "service in batches of one", reading: .service, input: events) {
        history,
        _,
        readAt in
        try ProductAnswer.service(history.map { [$0] }, readAt: readAt)
    }
    static let lines = Trial(name: "lines", reading: .validate, isInLines: true) {
        StoryLines($0).lines
    } answer: { _, input, readAt in
        try ProductAnswer.validate([input], installations: [], readAt: readAt)
    }
    static let linesAndEvents = Trial(name: "lines and events", reading: .validate, isInLines: true) {
        $0.flatMap { StoryLines([$0]).lines + [$0.json] }
    } answer: { _, input, readAt in
        try ProductAnswer.validate([input], installations: [], readAt: readAt)
    }

    @Sendable private static func events(_ history: [ToldEvent]) -> [String] { history.map(\.json) }

    private static func installations(_ history: [ToldEvent]) -> Set<String> { Set(history.compactMap(\.installation)) }

    /// Records an issue with the smallest history that still shows it, where product and model disagree.
    func check(_ history: [ToldEvent], _ seed: UInt64) {
        guard let found = differences(history).first else { return }
        // What is left shows the same difference, not another one.
        var shrinking = Shrinking { differences($0).contains { $0.subject == found.subject } }
        Issue.record("\(report(shrinking.shrunk(history), seed, model: ReferenceModel(reading: reading)))")
    }

    /// Where the product and the model disagree on a history in its order of arrival.
    func differences(_ history: [ToldEvent], model: ReferenceModel? = nil) -> [Difference] {
        let model = model ?? ReferenceModel(reading: reading)
        if isInLines, !StoryLines.canTell(history) { return [] }
        let readAt = (history.map(\.time).max() ?? 0) + 60
        do {
            let answer = try answer(history, input(history), readAt)
            return model.expectation(of: history).differences(from: answer)
        } catch {
            return [Difference(subject: "refusal", description: "the product refuses it: \(error)")]
        }
    }

    /// The history as it can be given to `validate -`, with what the two make of it.
    func report(_ history: [ToldEvent], _ seed: UInt64, model: ReferenceModel) -> String {
        let expectation = model.expectation(of: history)
        let readAt = (history.map(\.time).max() ?? 0) + 60
        var lines = ["\(name), seed \(seed): the product and the model disagree on"] + input(history)
        lines += differences(history, model: model).map(\.description)
        lines.append("model: \(expectation)")
        if let answer = try? answer(history, input(history), readAt) { lines.append("product: \(answer)") }
        return lines.joined(separator: "\n")
    }
}
