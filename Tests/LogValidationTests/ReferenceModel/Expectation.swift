// SPDX-License-Identifier: Apache-2.0

/// What a history may come to.
struct Expectation {
    /// Each count by its name, from the least to the most that the rules allow.
    var counts: [String: ClosedRange<Int>] = [:]
    var cycles: [ExpectedCycle] = []
    /// Whether failures may count under another reason than their cycles name, because client counters told of failures.
    var mayExchangeReasons = false
    /// Why the rules do not decide the history; nothing is compared then.
    private(set) var openQuestion: String?

    mutating func leaveOpen(_ question: String) { openQuestion = question }

    mutating func add(_ name: String, _ range: ClosedRange<Int>) {
        let sum = counts[name] ?? 0...0
        counts[name] = sum + range
    }
}

/// What one cycle may come to.
struct ExpectedCycle {
    var name: CycleName
    var outcomes: Set<String>
    /// The rules that it breaks for certain.
    var broken: Set<String>
    /// The rules that it may be said to break or not.
    var arguable: Set<String>
    /// The attempts that failed.
    var failures: [AttemptResult]
    /// The first time of each stage.
    var stages: [String: Int]
}

/// How far a rule of several readings holds.
enum Ruling {
    case no, arguable, yes

    /// Yes where each reading says so, no where none does.
    init(_ readings: Bool...) { self.init(readings) }

    init(_ readings: [Bool]) {
        self = !readings.contains(true) ? .no : readings.contains(false) ? .arguable : .yes
    }

    /// The stronger of two rulings on parts of one cycle.
    static func || (left: Ruling, right: Ruling) -> Ruling {
        if left == .yes || right == .yes { return .yes }
        return left == .arguable || right == .arguable ? .arguable : .no
    }
}

extension ClosedRange<Int> {
    static func + (left: ClosedRange<Int>, right: ClosedRange<Int>) -> ClosedRange<Int> {
        left.lowerBound + right.lowerBound...left.upperBound + right.upperBound
    }
}
