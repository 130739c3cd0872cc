// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// A page of remembered identities in a checkpoint: when its generation started, then eight bytes for each.
struct IdentityPage {
    static let prefix = "identities/"

    var generation: UInt32
    var number: UInt32
    var startedAt: Timestamp
    var identities: [UInt64]

    static func prefix(generation: UInt32) -> String { "\(prefix)\(sortable(generation))/" }

    init(_ identities: [UInt64], of generation: IdentityGeneration, number: UInt32) {
        self.generation = generation.number
        self.number = number
        startedAt = generation.startedAt
        self.identities = identities
    }

    var encoded: StatePage {
        var value = StateWriter()
        value.append(UInt64(bitPattern: startedAt.microseconds))
        for identity in identities { value.append(identity) }
        return StatePage(key: Self.prefix(generation: generation) + sortable(number), value: value.bytes)
    }

    init(_ page: StatePage) throws(StateError) {
        let parts = page.key.dropFirst(Self.prefix.count).split(separator: "/")
        guard parts.count == 2, let generation = UInt32(parts[0], radix: 16), let number = UInt32(parts[1], radix: 16)
        else { throw StateError(key: page.key, problem: "a key that names no generation and page") }
        var reader = StateReader(page)
        self.generation = generation
        self.number = number
        startedAt = Timestamp(microseconds: Int64(bitPattern: try reader.word()))
        identities = []
        identities.reserveCapacity(reader.remaining / 8)
        while reader.remaining > 0 { identities.append(try reader.word()) }
    }
}
