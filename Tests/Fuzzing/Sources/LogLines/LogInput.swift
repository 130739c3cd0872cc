// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// An input taken apart: its first byte says how the rest is read, and the rest is a log.
///
/// | bits of the byte, `@` being none | meaning |
/// | --- | --- |
/// | 1 | live |
/// | 2, 4 | the zone: UTC, a zone with changes in 2025, far east, far west |
/// | 8 to 128 | the wrapper from 1 on; any other number: told apart per line |
struct LogInput {
    let options: LogDecoderOptions
    let log: [UInt8]
    /// For choices that need no byte of their own.
    let choices: Choices

    init?(_ input: [UInt8]) {
        guard let first = input.first else { return nil }
        let bits = first ^ UInt8(ascii: "@")
        let form = Int(bits >> 3) - 1
        options = LogDecoderOptions(
            wrapper: LogWrapper.allCases.indices.contains(form) ? LogWrapper.allCases[form] : nil,
            zone: Self.zones[Int(bits >> 1 & 3)],
            isLive: bits & 1 == 1
        )
        log = Array(input[1...])
        choices = Choices(input)
    }

    private static let zones = [
        ZoneOffsets.utc,
        ZoneOffsets(transitions: [(1_743_296_400, 7_200), (1_761_440_400, 3_600)], before: 3_600),
        ZoneOffsets(fixed: 50_400),
        ZoneOffsets(fixed: -43_200),
    ]

    /// The bytes behind each line's end; the log's own end is the last of them.
    var lineEnds: [Int] {
        var ends = log.indices.filter { log[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        if !log.isEmpty, ends.last != log.count { ends.append(log.count) }
        return ends
    }
}
