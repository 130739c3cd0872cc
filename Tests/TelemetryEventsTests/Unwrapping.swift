// SPDX-License-Identifier: Apache-2.0

@testable import TelemetryEvents

/// What was read from a line, as text: component, time, device, process, message.
struct UnwrappedText: Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ line: UnwrappedLine, _ bytes: [UInt8]) {
        guard !line.isForeign else {
            description = "foreign"
            return
        }
        let component = line.isEvent ? "event" : line.component.map { "\($0)" } ?? "unknown"
        let device = line.device.isEmpty ? "-" : String(decoding: bytes[line.device], as: UTF8.self)
        let text = String(decoding: bytes[line.text], as: UTF8.self)
        description = "\(component) \(Self.describe(line.stamp)) \(device) \(line.process) \(text)"
    }

    private static func describe(_ stamp: LogStamp?) -> String {
        guard let stamp else { return "-" }
        var text = "\(Timestamp(microseconds: stamp.wallMicroseconds))".dropLast().description
        if !stamp.hasYear { text = text.dropFirst(4).description }
        return text + (stamp.offsetSeconds.map { $0 < 0 ? "\($0)" : "+\($0)" } ?? "")
    }
}

/// Unwraps one line.
func unwrap(_ line: [UInt8], as wrapper: LogWrapper? = nil) -> UnwrappedText {
    unwrap([line], as: wrapper).last ?? UnwrappedText("none")
}

func unwrap(_ line: String, as wrapper: LogWrapper? = nil) -> UnwrappedText {
    unwrap(Array(line.utf8), as: wrapper)
}

/// Unwraps lines one after the other, each at the end of its bytes, so that a read behind it is seen.
func unwrap(_ lines: [[UInt8]], as wrapper: LogWrapper? = nil) -> [UnwrappedText] {
    var unwrapper = LineUnwrapper(wrapper: wrapper)
    var scratch: [UInt8] = []
    return lines.map { line in
        let unwrapped = unwrapper.unwrap(line.span, 0..<line.count, scratch: &scratch)
        return UnwrappedText(unwrapped, unwrapped.isInScratch ? scratch : line)
    }
}
