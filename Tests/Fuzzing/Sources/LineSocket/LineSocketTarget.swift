// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

@testable import Collector

/// Reads an input as what a client of a line socket sends, in one piece and in pieces of any size, and answers it.
///
/// The first byte says how large the pieces are at most, with 0 for a byte each.
enum LineSocketTarget: FuzzTarget {
    static func check(_ input: [UInt8]) {
        guard let size = input.first else { return }
        let bytes = Array(input.dropFirst())
        let whole = Conversation(bytes, pieces: [bytes.count])
        var choices = Choices(input)
        var pieces: [Int] = []
        var rest = bytes.count
        while rest > 0 {
            pieces.append(min(rest, 1 + choices.next(1 << Int(size % 18))))
            rest -= pieces.last ?? rest
        }
        let cut = Conversation(bytes, pieces: pieces)
        for conversation in [whole, cut] { conversation.check(bytes) }
        // Of a first line that names no usable installation that is told last.
        let (refused, others) = (whole.refusedLines, cut.refusedLines)
        guard refused == others else { finding("in pieces: refused \(others); in one \(refused)") }
        guard whole.events.count == cut.events.count else {
            finding("in pieces: \(cut.events.count) events of \(whole.events.count)")
        }
    }
}

/// All that a client sends until it closes, and what it gets.
private struct Conversation {
    private(set) var events: [[UInt8]] = []
    private(set) var rejections: [Rejection] = []
    private var answers = LineAnswers()
    private var answered: [UInt8] = []
    private var settled: UInt64 = 0
    private var choices: Choices

    init(_ bytes: [UInt8], pieces: [Int]) {
        choices = Choices(bytes)
        var options = LogDecoderOptions(isLive: true)
        options.takesAllJSON = true
        let decoder = LogDecoder(options, pseudonyms: FoldedPseudonyms(), identityKey: IdentityKey(1, 2))
        var stream = LineStream(decoder, pseudonyms: FoldedPseudonyms())
        var rest = bytes[...]
        var ended: UInt64 = 0
        for size in pieces {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            ended += UInt64(piece.count { $0 == UInt8(ascii: "\n") })
            if let piece = stream.take(piece, readAt: receivedAt) { take(piece) }
            guard settled <= ended else { finding("\(settled) lines are acknowledged of \(ended) that have come") }
            send()
        }
        let isInsideLine = bytes.last.map { $0 != UInt8(ascii: "\n") } ?? false
        guard stream.isInsideLine == isInsideLine else { finding("a line is \(isInsideLine ? "" : "not ")incomplete") }
        if let piece = stream.finishLine(readAt: receivedAt) { take(piece) }
        if let piece = stream.flush(readAt: receivedAt) { take(piece) }
        while !answers.next().isEmpty { send() }
    }

    private mutating func take(_ piece: LineStream.Piece) {
        guard piece.settled >= settled else { finding("\(piece.settled) lines after \(settled)") }
        settled = piece.settled
        rejections += piece.decoded.rejections
        events += CanonicalEvent.lines(of: piece.decoded)
        ReadableEvents.check(piece.decoded)
        answers.add(durable: piece.settled, piece.decoded.rejections)
    }

    /// Sends a part of what waits, as a client that is slow to read makes it.
    private mutating func send() {
        let bytes = answers.next()
        let count = min(bytes.count, 1 + choices.next(64))
        answered += bytes.prefix(count)
        answers.sent(count)
    }

    /// The rejections as a client is told them, in the order of their lines.
    /// Lines that were refused, and why. An event whose line ends inside a text is cut short, or broken by the line's end
    /// where that was there already.
    var refusedLines: [String] {
        rejections.sorted { $0.index < $1.index }.map { rejection in
            var told = rejection
            if told.reason == .truncated { told.reason = .malformedJSON }
            return "\(told.index) \(told)"
        }
    }

    func check(_ bytes: [UInt8]) {
        let feeds = bytes.count { $0 == UInt8(ascii: "\n") }
        let lines = UInt64(feeds + (bytes.isEmpty || bytes.last == UInt8(ascii: "\n") ? 0 : 1))
        guard settled == lines else { finding("\(settled) of \(lines) lines are settled in the end") }
        for rejection in rejections where rejection.index >= lines {
            finding("line \(rejection.index + 1) of \(lines) is refused")
        }
        checkAnswers(lines)
        checkInstallation(bytes)
    }

    /// Each answer is a line of its form, counts never fall, the last one is that of all lines, and no line is refused for
    /// one reason twice.
    private func checkAnswers(_ lines: UInt64) {
        guard let text = String(validating: answered, as: UTF8.self) else {
            finding("answers that are not UTF-8", answered)
        }
        var acknowledged: UInt64 = 0
        var refused: Set<Substring> = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ", maxSplits: 2)
            switch (words.first, words.count > 1 ? UInt64(words[1]) : nil) {
            case ("ok", let count?) where words.count == 2 && count > acknowledged: acknowledged = count
            case ("rejected", let number?) where words.count == 3 && (1...lines).contains(number):
                guard refused.insert(line).inserted else { finding("told twice: \(line)") }
            default: finding("an answer of no form, or out of order: \(line)", answered)
            }
        }
        guard text.isEmpty || text.hasSuffix("\n") else { finding("half an answer", answered) }
        guard acknowledged == lines else { finding("\(acknowledged) of \(lines) lines are acknowledged in the end") }
    }

    /// The id of a device that the first line names is in no event and no answer, unless other lines have it too.
    private func checkInstallation(_ bytes: [UInt8]) {
        let start = Array("installation ".utf8)
        guard bytes.starts(with: start) else { return }
        let id = bytes.dropFirst(start.count).prefix { $0 != UInt8(ascii: "\n") }
        let rest = bytes.dropFirst(start.count + id.count)
        guard (12...256).contains(id.count), !id.contains(where: { $0 <= 0x20 || $0 > 0x7E }) else { return }
        let text = String(decoding: id, as: UTF8.self)
        guard !String(decoding: rest, as: UTF8.self).contains(text) else { return }
        for line in events + [answered] where String(decoding: line, as: UTF8.self).contains(text) {
            finding("the id of a device is told", line)
        }
    }
}
