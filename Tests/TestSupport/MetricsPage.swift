// SPDX-License-Identifier: Apache-2.0

/// The samples of a page in Prometheus text format 0.0.4.
package struct MetricsPage: Sendable {
    package struct Series: Hashable, Sendable {
        package let name: String
        package let labels: [String: String]

        package init(name: String, labels: [String: String] = [:]) {
            self.name = name
            self.labels = labels
        }
    }

    package private(set) var samples: [Series: Double] = [:]
    /// The declared type by family.
    package private(set) var types: [String: String] = [:]
    package let text: String

    package init(_ text: String) {
        self.text = text
        // Bytes: suites read thousands of pages, and characters take ten times as long.
        for line in Array(text.utf8).split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "# TYPE ".utf8) {
                let words = line.split(separator: UInt8(ascii: " "))
                if words.count == 4 { types[String(bytes: words[2])] = String(bytes: words[3]) }
            } else if line.first != UInt8(ascii: "#") {
                var scanner = SampleScanner(line)
                if let (series, value) = scanner.scan() { samples[series] = value }
            }
        }
    }

    package func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples[Series(name: name, labels: labels)]
    }

    /// The sum over all label sets of one name.
    package func sum(_ name: String) -> Double {
        samples.reduce(0) { $0 + ($1.key.name == name ? $1.value : 0) }
    }

    package func series(_ name: String) -> [Series] { samples.keys.filter { $0.name == name } }

    package var isJournalComplete: Bool {
        value("dnp_telemetry_journal_pending_entries") == 0 && journalBalance == 0
    }

    /// accepted - (confirmed + skipped + pending): 0 when all adds up.
    package var journalBalance: Double {
        sum("dnp_telemetry_events_accepted_total") - sum("dnp_telemetry_journal_entries_confirmed_total")
            - sum("dnp_telemetry_journal_entries_skipped_total") - sum("dnp_telemetry_journal_pending_entries")
    }

    /// received - (accepted + duplicate + rejected): 0 when all adds up.
    package var ingestBalance: Double {
        sum("dnp_telemetry_events_received_total") - sum("dnp_telemetry_events_accepted_total")
            - sum("dnp_telemetry_events_duplicate_total") - sum("dnp_telemetry_events_rejected_total")
    }
}

extension MetricsPage {
    /// What stands on a page before each value, and the value, both as they are written.
    package static func texts(_ page: [UInt8]) -> [String: String] {
        var texts: [String: String] = [:]
        for line in page.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            guard let space = line.lastIndex(of: UInt8(ascii: " ")) else { continue }
            texts[String(bytes: line[..<space])] = String(bytes: line[(space + 1)...])
        }
        return texts
    }
}

extension String {
    fileprivate init(bytes: ArraySlice<UInt8>) { self.init(decoding: bytes, as: UTF8.self) }
}

/// Reads `name{label="value",...} number` from one line.
private struct SampleScanner {
    private var rest: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) { rest = line }

    mutating func scan() -> (MetricsPage.Series, Double)? {
        let name = take { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: " ") }
        var labels: [String: String] = [:]
        if skip("{") {
            while !skip("}") {
                let label = take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "}") }
                guard skip("="), skip("\""), let value = quotedText() else { return nil }
                labels[label] = value
                _ = skip(",")
            }
        }
        while skip(" ") {}
        let number = take { $0 != UInt8(ascii: " ") }
        let value = number == "+Inf" ? Double.infinity : Double(number)
        guard let value, !name.isEmpty else { return nil }
        return (MetricsPage.Series(name: name, labels: labels), value)
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: condition)
        rest = rest[taken.endIndex...]
        return String(bytes: taken)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// The text up to the closing quote, with its escapes undone.
    private mutating func quotedText() -> String? {
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped == UInt8(ascii: "n") ? UInt8(ascii: "\n") : escaped)
            default: text.append(byte)
            }
        }
        return nil
    }
}
