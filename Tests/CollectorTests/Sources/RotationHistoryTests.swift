// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Histories of a followed file")
struct RotationHistoryTests {
    @Test("of any rotations, looks and kills lose and repeat no line", arguments: 1...300 as ClosedRange<UInt64>)
    func anyHistory(seed: UInt64) throws {
        var random = SplitMix64(seed)
        let log = try LogDirectory()
        var written: [String] = []
        var rest = ""
        /// Appends lines, the last of which may be completed later.
        func append(_ count: Int, cuts: Bool = false) throws {
            var text = rest
            for _ in 0..<count {
                let line = "\(written.count) " + String(repeating: "x", count: Int.random(in: 0...120, using: &random))
                written.append(line)
                text += line + "\n"
            }
            let kept = cuts ? Int.random(in: 0...min(10, text.count), using: &random) : 0
            rest = String(text.suffix(kept))
            try log.append(String(text.dropLast(kept)))
        }
        try append(1)
        log.look()
        for _ in 0..<40 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3: try append(Int.random(in: 1...20, using: &random), cuts: true)
            case 4...6:
                log.look(after: Double.random(in: 0...1, using: &random), commits: Bool.random(using: &random))
            case 7: log.kill()
            default:
                // A generation has lines, as a rotation by size or time would see to.
                try append(1)
                for number in stride(from: 30, to: 0, by: -1) {
                    try? log.rename("device.log.\(number)", "device.log.\(number + 1)")
                }
                if seed % 3 == 0 || seed % 3 == 1 && Bool.random(using: &random) {
                    try log.copy("device.log", "device.log.1")
                    try log.truncate()
                } else {
                    try log.rename("device.log", "device.log.1")
                }
            }
        }
        try append(1)
        log.settle()
        log.kill()
        log.settle()
        #expect(log.lines.elementsEqual(written) as Bool, "\(Self.difference(log.lines, written))")
        #expect(!log.notices.contains(.lostRest))
    }

    /// Which lines are missing, come again, or are out of order.
    private static func difference(_ read: [String], _ written: [String]) -> String {
        let numbers = read.map { Int($0.prefix { $0 != " " }) ?? -1 }
        let missing = Set(0..<written.count).subtracting(numbers).sorted()
        let disorder = zip(numbers, numbers.dropFirst()).filter { $0 >= $1 }
        return "missing \(missing), \(numbers.count - Set(numbers).count) again, out of order \(disorder)"
    }
}
