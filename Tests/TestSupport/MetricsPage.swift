// SPDX-License-Identifier: Apache-2.0

/// The samples of a page in Prometheus text format 0.0.4.
struct MetricsPage: Sendable {
    struct Series: Hashable, Sendable {
        let name: String
        let labels: [String: String]
    }

    private(set) var samples: [Series: Double] = [:]
    /// The declared type by family.
    private(set) var types: [String: String] = [:]
    let text: String

    init(_ text: String) {
        self.text = text
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                if words.count == 4 { types[String(words[2])] = String(words[3]) }
            } else if !line.hasPrefix("#") {
                var scanner = SampleScanner(line)
                if let (series, value) = scanner.scan() { samples[series] = value }
            }
        }
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples[Series(name: name, labels: labels)]
    }

    /// The sum over all label sets of one name.
    func sum(_ name: String) -> Double {
        samples.reduce(0) { $0 + ($1.key.name == name ? $1.value : 0) }
    }

    func series(_ name: String) -> [Series] { samples.keys.filter { $0.name == name } }

    var isJournalComplete: Bool {
        value("dnp_telemetry_journal_pending_entries") == 0 && journalBalance == 0
    }

    /// accepted - (confirmed + skipped + pending): 0 when all adds up.
    var journalBalance: Double {
        sum("dnp_telemetry_events_accepted_total") - sum("dnp_telemetry_journal_entries_confirmed_total")
            - sum("dnp_telemetry_journal_entries_skipped_total") - sum("dnp_telemetry_journal_pending_entries")
    }

    /// received - (accepted + duplicate + rejected): 0 when all adds up.
    var ingestBalance: Double {
        sum("dnp_telemetry_events_received_total") - sum("dnp_telemetry_events_accepted_total")
            - sum("dnp_telemetry_events_duplicate_total") - sum("dnp_telemetry_events_rejected_total")
    }
}

/// Reads `name{label="value",...} number` from one line.
struct SampleScanner {
    private var rest: Substring

    init(_ line: Substring) { rest = line }

    mutating func scan() -> (MetricsPage.Series, Double)? {
        let name = take { $0 != "{" && $0 != " " }
        var labels: [String: String] = [:]
        if skip("{") {
            while !skip("}") {
                let label = take { $0 != "=" && $0 != "}" }
                guard skip("="), skip("\""), let value = quotedText() else { return nil }
                labels[String(label)] = value
                _ = skip(",")
            }
        }
        guard let number = rest.split(separator: " ").first else { return nil }
        let value = number == "+Inf" ? Double.infinity : Double(number)
        guard let value, !name.isEmpty else { return nil }
        return (MetricsPage.Series(name: String(name), labels: labels), value)
    }

    private mutating func take(while condition: (Character) -> Bool) -> Substring {
        let taken = rest.prefix(while: condition)
        rest = rest.dropFirst(taken.count)
        return taken
    }

    private mutating func skip(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    /// The text up to the closing quote, with its escapes undone.
    private mutating func quotedText() -> String? {
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped == "n" ? "\n" : escaped)
            default: text.append(character)
            }
        }
        return nil
    }
}
