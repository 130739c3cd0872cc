// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Wrappers of log lines")
struct LineUnwrapperTests {
    @Test("a line is read in its wrapper, told or not", arguments: WrapperSample.all)
    func reads(sample: WrapperSample) {
        #expect(unwrap(sample.line).description == sample.expected)
        #expect(unwrap(sample.line, as: sample.wrapper).description == sample.expected)
    }

    @Test("line ends, byte order marks, NUL and white space around a line change nothing", arguments: WrapperSample.all)
    func isTrimmed(sample: WrapperSample) {
        for line in ["\(sample.line)\r\n", "\u{FEFF}\(sample.line)\n", "\0\0 \(sample.line) \t\r"] {
            #expect(unwrap(line).description == sample.expected)
        }
    }

    @Test("colours anywhere between the words of a line change nothing", arguments: WrapperSample.all)
    func ignoresColours(sample: WrapperSample) {
        for sequence in ["\u{1B}[32m", "\u{1B}[0;1;38;5;12m", "\u{1B}]0;title\u{7}", "\u{1B}(B"] {
            let line = sample.line.split(separator: " ", omittingEmptySubsequences: false)
                .joined(separator: "\(sequence) \(sequence)")
            #expect(unwrap("\(sequence)\(line)\u{1B}[0m\r\n").description == sample.expected)
            #expect(unwrap("\(sequence)\(line)", as: sample.wrapper).description == sample.expected)
        }
    }

    @Test("a line cut anywhere is read or foreign, in every wrapper", arguments: WrapperSample.all)
    func survivesCuts(sample: WrapperSample) {
        let bytes = Array(sample.line.utf8)
        for length in 0...bytes.count {
            for wrapper in [nil] + LogWrapper.allCases {
                expectSound(Array(bytes.prefix(length)), as: wrapper)
                expectSound(Array(bytes.suffix(length)), as: wrapper)
            }
        }
    }

    @Test("a line with any byte replaced is read or foreign", arguments: WrapperSample.all)
    func survivesDamage(sample: WrapperSample) {
        let bytes = Array(sample.line.utf8)
        for index in bytes.indices {
            for byte: UInt8 in [0, 0x0A, 0x1B, 0x20, 0x22, 0x2D, 0x30, 0x3A, 0x5B, 0x5C, 0x5D, 0x7B, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] = byte
                expectSound(damaged, as: nil)
                expectSound(damaged, as: sample.wrapper)
            }
        }
    }

    @Test("the ranges of a line inside other bytes stay inside it", arguments: WrapperSample.all)
    func staysInside(sample: WrapperSample) {
        let line = Array(sample.line.utf8)
        let bytes = Array("11-15 [DNP-FETCH] before\n".utf8) + line + Array("\n9999 [DNP-FETCH] after\n".utf8)
        let range = 25..<25 + line.count
        var unwrapper = LineUnwrapper(wrapper: nil)
        var scratch: [UInt8] = []
        let unwrapped = unwrapper.unwrap(bytes.span, range, scratch: &scratch)
        #expect(UnwrappedText(unwrapped, unwrapped.isInScratch ? scratch : bytes).description == sample.expected)
        if !unwrapped.isInScratch, !unwrapped.text.isEmpty { #expect(range.contains(unwrapped.text.lowerBound)) }
    }

    private func expectSound(_ line: [UInt8], as wrapper: LogWrapper?) {
        var unwrapper = LineUnwrapper(wrapper: wrapper)
        var scratch: [UInt8] = []
        let unwrapped = unwrapper.unwrap(line.span, 0..<line.count, scratch: &scratch)
        let count = unwrapped.isInScratch ? scratch.count : line.count
        let isSound =
            unwrapped.text.lowerBound >= 0 && unwrapped.text.upperBound <= count
            && unwrapped.device.lowerBound >= 0 && unwrapped.device.upperBound <= count
            && (unwrapped.component == nil || !unwrapped.hasUnknownMarker)
        #expect(isSound, "\(String(decoding: line, as: UTF8.self))")
    }
}
