// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Reads an input as a device's log: in one piece, in two, and with a restart between the two.
enum LogLinesTarget: FuzzTarget {
    static func check(_ bytes: [UInt8]) {
        guard let input = LogInput(bytes) else { return }
        let whole = input.whole()
        let ends = input.lineEnds
        guard whole.lines.read == UInt64(ends.count) else { finding("\(ends.count) lines, read \(whole.lines)") }
        ReadingInvariants.check(whole)
        var choices = input.choices
        let place = ends.isEmpty ? 0 : ends[choices.next(ends.count)]
        compare(whole, input.cut(at: place) { $0 }, input, "read in two pieces, cut at \(place)")
        let again = input.cut(at: place) { restarted($0, input) }
        compare(whole, again, input, "read with a restart at \(place)", isRestart: true)
        checkDamage(input, at: place)
    }
}

private func compare(
    _ whole: LogReading,
    _ other: LogReading,
    _ input: LogInput,
    _ how: String,
    isRestart: Bool = false
) {
    let (events, others) =
        input.namesNoProcess
        ? (whole.events(isRestart: isRestart), other.events(isRestart: isRestart)) : (whole.stories, other.stories)
    guard events == others else {
        let missing = events.filter { !others.contains($0) }
        let added = others.filter { !events.contains($0) }
        finding("\(how): \(others.count) events of \(events.count)", joined(missing), joined(added))
    }
    guard whole.lines == other.lines, whole.unknownFields == other.unknownFields else {
        finding("\(how): \(other.lines); in one \(whole.lines)")
    }
}

private func joined(_ lines: [[UInt8]]) -> [UInt8] { Array(lines.joined(separator: [0x0A])) }

/// The decoder that goes on after a restart.
private func restarted(_ decoder: LogDecoder, _ input: LogInput) -> LogDecoder {
    let state = decoder.state
    guard state.count <= 64 << 10 else { finding("a state of \(state.count) bytes") }
    do throws(LogStateError) {
        let restored = try input.decoder(restoring: state)
        if restored.state != state { finding("a state that changes when it is saved again", state, restored.state) }
        return restored
    } catch {
        finding("a state that cannot be restored: \(error)", state)
    }
}

/// A damaged state is refused, and the log itself is no state either.
private func checkDamage(_ input: LogInput, at place: Int) {
    var first = input.decoder()
    _ = first.decode(input.log.span.extracting(..<place), readAt: receivedAt)
    let state = first.state
    var damage = StateDamage(input.choices)
    for other in [damage.applied(to: state), damage.applied(to: state), input.log] where other != state {
        guard (try? input.decoder(restoring: other)) == nil else { finding("a damaged state that is taken", other) }
    }
}
