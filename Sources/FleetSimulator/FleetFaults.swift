// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// What goes wrong around the devices and on the way to a collector, in parts of a million.
package struct FleetFaults: Equatable, Sendable {
    /// Of a day: what was not sent until its end is lost with the client's storage.
    package var lostStorage: Int64 = 0
    /// Of a day: the battery is dead from before the task's time until after the notification.
    package var deadBattery: Int64 = 0
    /// Of a day: the device's clock is set, by up to 20 minutes.
    package var clockStep: Int64 = 0
    /// How far the clock is off after a day, at most.
    package var clockDrift: Int64 = 0
    /// Of a day: the device travels to another zone.
    package var zone: Int64 = 0
    /// Of an event: it is told twice.
    package var duplicate: Int64 = 0
    /// Of a day: its events are told in another order.
    package var reorder: Int64 = 0
    /// Of a batch: its connection breaks while it is sent, and it is sent again.
    package var lossBefore: Int64 = 0
    /// Of a batch: its answer is lost, and it is sent again.
    package var lossAfter: Int64 = 0
    /// Of a batch: its answer is lost, and it is sent again in two pieces.
    package var split: Int64 = 0
    /// Of a batch: it is sent again although it was acknowledged.
    package var duplicateRequest: Int64 = 0

    package init() {}

    /// A name for `--faults`: where its rate is kept, its largest rate when drawn, and what it means.
    package struct Kind: Sendable {
        package let name: String
        package let summary: String
        let largest: Int64
        let rate: any WritableKeyPath<FleetFaults, Int64> & Sendable

        init(
            _ name: String,
            _ rate: any WritableKeyPath<FleetFaults, Int64> & Sendable,
            upTo largest: Int64,
            _ summary: String
        ) {
            (self.name, self.rate, self.largest, self.summary) = (name, rate, largest, summary)
        }
    }

    /// All kinds, in the order in which their rates are drawn: new ones stand last, so that no seed tells another story.
    package static let kinds = kindsOfDevices + kindsOfRequests

    /// What changes what a device tells.
    private static let kindsOfDevices = [
        Kind("duplicate", \.duplicate, upTo: 200_000, "of events that are told twice"),
        Kind("reorder", \.reorder, upTo: 500_000, "of days whose events are told in another order"),
        Kind(
            "clock-step",
            \.clockStep,
            upTo: 100_000,
            "of days before which the device's clock is set, by up to 20 minutes"
        ),
        Kind("clock-drift", \.clockDrift, upTo: 200, "how far a clock is off after a day, 0.0001 for 8.6 s"),
        Kind("zone", \.zone, upTo: 50_000, "of days on which the device travels to another time zone"),
        Kind("battery", \.deadBattery, upTo: 50_000, "of days whose task and notification a dead battery prevents"),
        Kind("storage", \.lostStorage, upTo: 50_000, "of days whose events are lost with the client's storage"),
    ]

    /// What changes how a batch is sent, and nothing of what must be counted.
    private static let kindsOfRequests = [
        Kind("loss-before", \.lossBefore, upTo: 100_000, "of batches whose connection breaks while they are sent"),
        Kind("loss-after", \.lossAfter, upTo: 100_000, "of batches whose answer is lost"),
        Kind("split", \.split, upTo: 100_000, "of batches whose answer is lost, and that are repeated in two pieces"),
        Kind("duplicate-request", \.duplicateRequest, upTo: 100_000, "of batches that are sent twice"),
    ]

    /// The first fault of requests that has a rate, by its name; nil for none.
    package var faultOfRequests: String? { Self.kindsOfRequests.first { self[keyPath: $0.rate] > 0 }?.name }

    /// Why a list of rates says nothing.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    /// Rates of all kinds that are drawn from a seed.
    package static func random(seed: UInt64) -> FleetFaults {
        var random = StoryRandom(seed: seed, stream: 0xFA_0175)
        var faults = FleetFaults()
        for kind in kinds { faults[keyPath: kind.rate] = random.below(kind.largest + 1) }
        return faults
    }

    /// Reads `name=rate` in a list with commas or lines, or `random`. Lines that begin with `#` are comments.
    package init(_ text: String, seed: UInt64) throws(Problem) {
        for part in text.split(whereSeparator: { $0 == "," || $0.isNewline }) {
            let words = part.split(separator: "=", maxSplits: 1).map { String($0).trimmingSpaces }
            guard let name = words.first, !name.isEmpty, !name.hasPrefix("#") else { continue }
            if words.count == 1, name == "random" {
                self = .random(seed: seed)
                continue
            }
            guard let kind = Self.kinds.first(where: { $0.name == name }) else {
                let nearest = NearestName.of(name, in: Self.kinds.map(\.name) + ["random"])
                let hint = nearest.map { "; did you mean \($0)?" } ?? ""
                throw Problem(description: "unknown fault \(name)\(hint)")
            }
            guard words.count == 2, let rate = Self.parts(words[1]) else {
                throw Problem(
                    description: "expected \(name)=RATE with a rate from 0 to 1, found \(String(part).trimmingSpaces)"
                )
            }
            self[keyPath: kind.rate] = rate
        }
    }

    /// The parts of a million of a decimal number from 0 to 1.
    private static func parts(_ text: String) -> Int64? {
        guard text.utf8.first.map({ (0x30...0x39).contains($0) }) ?? false else { return nil }
        let pieces = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = Int64(pieces[0]), (0...1).contains(whole) else { return nil }
        var parts = whole * 1_000_000
        if pieces.count == 2 {
            guard pieces[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), pieces[1].utf8.count <= 18 else {
                return nil
            }
            var unit: Int64 = 100_000
            for digit in pieces[1].utf8 {
                parts += Int64(digit - 0x30) * unit
                unit /= 10
            }
        }
        return parts <= 1_000_000 ? parts : nil
    }

    /// The rates as they are given, in a list with commas.
    package var description: String {
        Self.kinds.compactMap { kind in
            let parts = self[keyPath: kind.rate]
            guard parts > 0 else { return nil }
            let digits = String(parts % 1_000_000)
            let fraction = String(repeating: "0", count: 6 - digits.count) + digits
            return "\(kind.name)=\(parts / 1_000_000).\(fraction)"
        }
        .joined(separator: ",")
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
