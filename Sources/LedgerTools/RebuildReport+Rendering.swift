// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import TelemetryEvents
package import TextOutput

extension RebuildReport {
    /// How many pages and counters are listed; there may be tens of thousands.
    private static let listed = 100

    /// What differs, one line each, and the result at the end.
    ///
    /// - Parameter isBrief: whether only the result is told.
    package func text(style: TextStyle, isBrief: Bool = false) -> String {
        var text = ""
        if !isBrief {
            for problem in problems { text += "problem  \(problem)\n" }
            text += Self.list(pages, of: "pages") { "page     \($0.name)  \($0.difference.words)" }
            text += Self.list(counters, of: "counters") {
                "counter  \($0.name)  saved \($0.saved ?? "nothing"), rebuilt \($0.rebuilt ?? "nothing")"
            }
        }
        text += style.text(result.words, result.colour) + ": \(sentence)\n"
        if isWritten { text += "written: the checkpoint is the rebuilt state now, true for \(end)\n" }
        return text
    }

    private var sentence: String {
        let folded = "\(batches) batches with \(events) events folded, up to \(end)"
        guard let saved else { return "nothing was saved yet; \(folded)" }
        switch result {
        case .equal: return "all \(savedPages) pages saved for \(saved); \(folded)"
        case .different:
            return "\(pages.count) pages and \(counters.count) counters, saved for \(saved); \(folded)"
        case .notComparable:
            return
                "batches up to \(pruned) were deleted, so that the checkpoint for \(saved) can be read and gone on from, "
                + "and not be made anew; behind it \(folded)"
        }
    }

    private static func list<Item>(_ items: [Item], of name: String, _ line: (Item) -> String) -> String {
        var text = items.prefix(listed).map { line($0) + "\n" }.joined()
        if items.count > listed { text += "and \(items.count - listed) more \(name)\n" }
        return text
    }

    /// One object: `{"result":"equal|different|not_comparable","written":false,"saved":{"batch":n,"sequence":n}|null,
    /// "pruned":{...},"end":{...},"batches":n,"events":n,"savedPages":n,"differentPages":n,"pages":[{"page":"...",
    /// "difference":"content|not_saved|saved_only"}],"counters":[{"name":"...","saved":"1"|null,"rebuilt":"2"|null}],
    /// "problems":["..."]}`; at most 100 pages and counters are listed.
    package func json() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("result")
            json.value(result.rawValue)
            json.name("written")
            json.value(isWritten)
            for (name, position) in [("saved", saved), ("pruned", pruned), ("end", end)] {
                json.name(name)
                Self.append(position, to: &json)
            }
            for (name, count) in [("batches", batches), ("events", events), ("savedPages", UInt64(savedPages))] {
                json.name(name)
                json.value(count)
            }
            json.name("differentPages")
            json.value(UInt64(pages.count))
            json.name("pages")
            json.array { json in
                for page in pages.prefix(Self.listed) { json.object { page.append(to: &$0) } }
            }
            json.name("counters")
            json.array { json in
                for counter in counters.prefix(Self.listed) { json.object { counter.append(to: &$0) } }
            }
            json.name("problems")
            json.array { json in
                for problem in problems { json.value(problem) }
            }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private static func append(_ position: LedgerPosition?, to json: inout JSONWriter) {
        guard let position else { return json.value(nil as String?) }
        json.object { json in
            json.name("batch")
            json.value(position.batch)
            json.name("sequence")
            json.value(position.sequence)
        }
    }
}

extension RebuildReport.Page {
    fileprivate func append(to json: inout JSONWriter) {
        json.name("page")
        json.value(name)
        json.name("difference")
        json.value(difference.rawValue)
    }
}

extension RebuildReport.Counter {
    fileprivate func append(to json: inout JSONWriter) {
        json.name("name")
        json.value(name)
        json.name("saved")
        json.value(saved)
        json.name("rebuilt")
        json.value(rebuilt)
    }
}

extension RebuildReport.Page.Difference {
    fileprivate var words: String {
        switch self {
        case .content: "has another content"
        case .notSaved: "is not saved"
        case .savedOnly: "is saved and should not be"
        }
    }
}

extension RebuildReport.Result {
    fileprivate var words: String {
        switch self {
        case .equal: "equal"
        case .different: "different"
        case .notComparable: "not comparable"
        }
    }

    fileprivate var colour: TextStyle.Colour {
        switch self {
        case .equal: .good
        case .different: .bad
        case .notComparable: .note
        }
    }
}
