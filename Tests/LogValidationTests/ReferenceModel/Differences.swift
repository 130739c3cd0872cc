// SPDX-License-Identifier: Apache-2.0

/// One thing that the product and the model see differently.
struct Difference: CustomStringConvertible {
    /// The count, stage or rule, by which a shrinker knows the difference again.
    var subject: String
    var description: String
}

extension Expectation {
    /// Where an answer is outside of what the rules allow; empty where it agrees.
    func differences(from answer: ProductAnswer) -> [Difference] {
        guard openQuestion == nil else { return [] }
        var found: [Difference] = []
        for name in Set(counts.keys).union(answer.counts.keys).sorted() {
            guard let count = answer.counts[name] else { continue }
            let range = counts[name] ?? 0...0
            guard !range.contains(count) else { continue }
            found.append(Difference(subject: name, description: "\(name): model \(range.text), product \(count)"))
        }
        let answered = Dictionary(grouping: answer.cycles, by: \.name)
        for expected in cycles {
            guard let closed = answered[expected.name], closed.count == 1 else {
                let number = answered[expected.name]?.count ?? 0
                let text = "cycle \(expected.name): model 1, product \(number)"
                found.append(Difference(subject: "cycle", description: text))
                continue
            }
            found += expected.differences(from: closed[0])
        }
        let known = Set(cycles.map(\.name))
        for name in answered.keys.sorted() where !known.contains(name) {
            found.append(Difference(subject: "cycle", description: "cycle \(name): only the product has it"))
        }
        return found + reasonDifferences(answer)
    }

    /// The reasons of the cycles are those that the counters have.
    private func reasonDifferences(_ answer: ProductAnswer) -> [Difference] {
        if mayExchangeReasons { return [] }
        return ReferenceModel.reasons.compactMap { reason in
            let cycles = answer.cycles.count { $0.failureReason == reason }
            let counted = answer.counts["failure \(reason)"] ?? 0
            guard cycles > counted else { return nil }
            let text = "the product counts \(counted) failures for \(reason), and names it in \(cycles) cycles"
            return Difference(subject: "reasons", description: text)
        }
    }
}

extension ExpectedCycle {
    fileprivate func differences(from cycle: ProductAnswer.AnsweredCycle) -> [Difference] {
        var found: [Difference] = []
        func add(_ subject: String, _ text: String) {
            found.append(Difference(subject: subject, description: "cycle \(name): \(text)"))
        }
        if !outcomes.contains(cycle.outcome) {
            add("outcome", "model \(outcomes.sorted().joined(separator: " or ")), product \(cycle.outcome)")
        }
        for rule in broken.subtracting(cycle.violations).sorted() { add(rule, "only the model says \(rule)") }
        for rule in cycle.violations.subtracting(broken).subtracting(arguable).sorted() {
            add(rule, "only the product says \(rule)")
        }
        for (stage, time) in stages.sorted(by: { $0.key < $1.key }) where cycle.stages[stage] != time {
            let told = cycle.stages[stage].map(ToldEvent.stamp) ?? "never"
            add("stage", "\(stage): model \(ToldEvent.stamp(time)), product \(told)")
        }
        let attempts = failures.map { $0.reasons.sorted().joined(separator: " or ") }.joined(separator: ", then ")
        if let reason = cycle.failureReason {
            // The stage and the reason are told of one attempt.
            let time = cycle.stages["failure"]
            let isTold = failures.contains { attempt in
                attempt.reasons.contains(reason) && time.map(attempt.failureTimes.contains) ?? false
            }
            if !isTold {
                let told = time.map(ToldEvent.stamp) ?? "no time"
                add("failureReason", "model failed for \(attempts), product for \(reason) at \(told)")
            }
        } else if failures.contains(where: { $0.failure.lowerBound > 0 }) {
            add("failureReason", "model failed for \(attempts), product not")
        }
        return found
    }
}

extension Expectation: CustomStringConvertible {
    var description: String {
        let counted = counts.filter { $0.value != 0...0 }.sorted { $0.key < $1.key }.map {
            "\($0.key) \($0.value.text)"
        }
        let judged = cycles.map { cycle in
            let rules = cycle.broken.sorted() + cycle.arguable.sorted().map { "perhaps \($0)" }
            return "\n  \(cycle.name): \(cycle.outcomes.sorted().joined(separator: " or ")) \(rules)"
        }
        return counted.joined(separator: ", ") + judged.joined()
    }
}

extension ProductAnswer: CustomStringConvertible {
    var description: String {
        let counted = counts.filter { $0.value != 0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let judged = cycles.sorted { $0.name < $1.name }.map { cycle in
            "\n  \(cycle.name): \(cycle.outcome) \(cycle.failureReason ?? "") \(cycle.violations.sorted())"
        }
        return counted.joined(separator: ", ") + judged.joined()
    }
}

extension ClosedRange<Int> {
    fileprivate var text: String { count == 1 ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)" }
}
