// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import Testing

@Suite("A fleet is cut into the batches of its clients")
struct FleetBatchesTests {
    private func plan(devices: Int, days: Int) -> FleetPlan {
        var plan = FleetPlan(seed: 5)
        (plan.devices, plan.days) = (devices, days)
        plan.faults = .random(seed: 5)
        return plan
    }

    private func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] { bytes.split(separator: UInt8(ascii: "\n")) }

    /// The installation that a line names.
    private func installation(of line: ArraySlice<UInt8>) -> String {
        let words = String(decoding: line, as: UTF8.self).split(separator: "\"")
        return words.firstIndex { $0 == "installationId" || $0 == "deviceId" }.map { String(words[$0 + 2]) } ?? ""
    }

    @Test("large batches have all of it, and what a device tells stays in one lane and in order", arguments: [2, 700])
    func largeBatches(days: Int) {
        let plan = plan(devices: days == 2 ? 300 : 3, days: days)
        var batches = FleetBatches(plan, listsEach: true)
        var (count, told) = (0, [UInt8]())
        var lanes: [String: Set<Int>] = [:]
        while let batch = batches.next() {
            count += 1
            told += batch.body
            #expect(batch.body.count < 512 << 10 && batch.body.last == UInt8(ascii: "\n"))
            for line in lines(batch.body) { lanes[installation(of: line), default: []].insert(batch.lane) }
        }
        let fleet = JudgedFleet(plan)
        #expect(count > 3 && told == fleet.bytes)
        #expect(batches.truth == fleet.truth && batches.each.count == plan.devices)
        #expect(lanes.count == plan.devices && lanes.values.allSatisfy { $0.count == 1 })
    }

    @Test("paced devices tell each day at a moment of it of their own, as they do alone")
    func pacedDevices() {
        let plan = plan(devices: 4, days: 3)
        var fleet = PacedFleet(plan, day: .seconds(60))
        var told = [[UInt8]](repeating: [], count: 4)
        var times: [Duration] = []
        while let due = fleet.due, let batch = fleet.next() {
            times.append(due)
            told[batch.lane] += batch.body
        }
        #expect(times == (1...12).map { .seconds(15 * $0) })
        for device in 0..<4 { #expect(told[device] == JudgedFleet(plan, devices: device..<device + 1).bytes) }
        let sum = fleet.truths.reduce(into: FleetTruth()) { $0 += $1 }
        #expect(sum == JudgedFleet(plan).truth && fleet.next() == nil)
    }

    @Test("what goes wrong with requests follows from the seed and changes nothing that devices tell")
    func requestFaults() throws {
        var plan = plan(devices: 20, days: 10)
        let before = JudgedFleet(plan).bytes
        plan.faults.lossBefore = 500_000
        plan.faults.split = 1_000_000
        plan.faults.lossAfter = 0
        let drawn = (0..<1_000).map { RequestFaults(plan, batch: $0) }
        #expect(drawn == (0..<1_000).map { RequestFaults(plan, batch: $0) })
        #expect((400...600).contains(drawn.count { $0.isLostBefore }))
        #expect(drawn.allSatisfy { $0.isSplit && !$0.isLostAfter && (0..<1_000_000).contains($0.cut) })
        #expect(Set(drawn.map(\.cut)).count > 900)
        #expect(JudgedFleet(plan).bytes == before)
        plan.seed = 6
        #expect(drawn != (0..<1_000).map { RequestFaults(plan, batch: $0) })
        let faults = try FleetFaults("loss-before=0.1,loss-after=0.2,split=0.3,duplicate-request=0.4", seed: 1)
        #expect(faults.description.hasSuffix("split=0.300000,duplicate-request=0.400000"))
        #expect(faults.faultOfRequests == "loss-before")
        #expect(try FleetFaults("zone=0.5", seed: 1).faultOfRequests == nil)
    }
}
