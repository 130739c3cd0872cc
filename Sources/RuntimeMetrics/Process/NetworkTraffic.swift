// SPDX-License-Identifier: Apache-2.0

/// The octets that `/proc/self/net/netstat` tells of the network namespace.
struct NetworkTraffic: Equatable {
    var received: UInt64
    var sent: UInt64

    /// Nil when there is no line `IpExt` with names and behind it one with numbers.
    init?(_ text: Span<UInt8>) {
        var scanner = NumberScanner()
        repeat {
            guard Self.isTitle(scanner.word(text), text) else { continue }
            guard let columns = Columns(&scanner, text), scanner.nextLine(text),
                Self.isTitle(scanner.word(text), text)
            else { return nil }
            var numbers: (received: UInt64?, sent: UInt64?)
            for column in 0...max(columns.received, columns.sent) {
                let number = scanner.number(text)
                if column == columns.received { numbers.received = number }
                if column == columns.sent { numbers.sent = number }
            }
            guard let received = numbers.received, let sent = numbers.sent else { return nil }
            self.received = received
            self.sent = sent
            return
        } while scanner.nextLine(text)
        return nil
    }

    private static func isTitle(_ word: Range<Int>?, _ text: Span<UInt8>) -> Bool {
        word.map { text.holds("IpExt:", at: $0) } ?? false
    }

    private struct Columns {
        let received: Int
        let sent: Int

        init?(_ scanner: inout NumberScanner, _ text: Span<UInt8>) {
            var received: Int?
            var sent: Int?
            var column = 0
            while let name = scanner.word(text) {
                if text.holds("InOctets", at: name) { received = column }
                if text.holds("OutOctets", at: name) { sent = column }
                column += 1
            }
            guard let received, let sent else { return nil }
            self.received = received
            self.sent = sent
        }
    }
}
