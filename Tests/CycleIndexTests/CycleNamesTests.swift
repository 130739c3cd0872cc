// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import CycleIndex

@Suite("Names of cycles")
struct CycleNamesTests {
    @Test("a name is found as it was noted while its generation lasts, whatever its hash", arguments: [1, 2, 3])
    func findsNames(seed: UInt64) throws {
        var random = SplitMix64(seed)
        var names = CycleNames(limit: 20_000)
        var noted: [(key: UInt64, name: CycleName)] = []
        for number in 0..<4_000 {
            // Hashes that differ in few bits share slots, and some of them tags.
            let key = random.next() & (number % 2 == 0 ? .max : 0x00F0_0000_0000_0FFF) | 1 << 63
            let id = Array("cycle-\(number)".utf8)
            let isNamed = number % 3 == 0
            let name = CycleName(installation: isNamed ? Pseudonym(high: key, low: 2) : nil, scheduleId: id)
            if let known = names.name(schedule: key, installation: 0) {
                #expect(noted.contains { $0.key == key && $0.name.scheduleId == known.scheduleId })
                continue
            }
            names.remember(name, of: key)
            noted.append((key, name))
            // A name takes about 35 bytes, so that a generation holds more than 500.
            for (key, name) in noted.suffix(500).shuffled(using: &random).prefix(5) {
                let found = try #require(names.name(schedule: key, installation: 0))
                #expect(found.scheduleId == name.scheduleId && found.installation == name.installation)
            }
            #expect(names.name(schedule: random.next(), installation: 0) == nil)
        }
        #expect(noted.count > 2_500)
        #expect(names.byteCount < 200_000)
    }

    @Test("on a small disk names take less memory, and the latest are still found")
    func suitsSmallDisks() throws {
        var names = CycleNames()
        func remember(_ numbers: Range<UInt64>) {
            for number in numbers {
                let id = Array("cycle-\(number)".utf8)
                names.remember(CycleName(installation: nil, scheduleId: id), of: hash(number))
            }
        }
        func hash(_ number: UInt64) -> UInt64 { number &* 0x9E37_79B9_7F4A_7C15 }

        names.halveLimit(6)
        remember(1..<60_000)
        #expect(names.name(schedule: hash(1), installation: 0) != nil, "two generations of 2 MiB")
        // A file system of 12 MiB.
        names.halveLimit(9)
        remember(60_000..<90_000)
        #expect(names.name(schedule: hash(50_000), installation: 0) == nil)
        #expect(names.byteCount < 1 << 20)
        for number: UInt64 in 85_000..<90_000 {
            let name = try #require(names.name(schedule: hash(number), installation: 0))
            #expect(name.scheduleId == Array("cycle-\(number)".utf8))
        }
        names.halveLimit(0)
        remember(90_000..<130_000)
        #expect(names.name(schedule: hash(90_000), installation: 0) != nil)
    }
}
