// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents
package import TextOutput

extension LedgerVerdict {
    /// One line a check, what is wrong below it, and the verdict at the end.
    ///
    /// - Parameter isBrief: whether only what failed is listed.
    package func text(style: TextStyle, isBrief: Bool = false) -> String {
        var text = ""
        for check in checks where !isBrief || check.result == .failed {
            let result = Self.padded(check.result == .failed ? "FAILED" : check.result.rawValue, 8)
            let name = Self.padded(check.name.rawValue, 11)
            text += style.text(result, check.result.colour) + name + check.sentence + "\n"
            for finding in check.findings { text += "          \(finding)\n" }
            if check.furtherFindings > 0 { text += "          and \(check.furtherFindings) more\n" }
        }
        let failed = checks.count { $0.result == .failed }
        let skipped = checks.count { $0.result == .skipped }
        let rest = skipped > 0 ? ", \(skipped) skipped" : ""
        return text
            + (failed > 0
                ? style.text("unsound", .bad) + ": \(failed) of \(checks.count) checks failed\(rest)\n"
                : style.text("sound", .good) + ": \(checks.count - skipped) checks\(rest)\n")
    }

    /// One object: `{"verdict":"sound|unsound","ledger":"...","checks":[{"check":"...","result":"ok|failed|skipped",
    /// "detail":"...","figures":{...},"findings":["..."]}]}`.
    package func json() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("verdict")
            json.value(isSound ? "sound" : "unsound")
            json.name("ledger")
            json.value(ledger)
            json.name("checks")
            json.array { json in
                for check in checks {
                    json.line(indent: 2)
                    json.object { check.append(to: &$0) }
                }
                json.lastLine(indent: 0)
            }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension LedgerCheck {
    fileprivate func append(to json: inout JSONWriter) {
        json.name("check")
        json.value(name.rawValue)
        json.name("result")
        json.value(result.rawValue)
        json.name("detail")
        json.value(sentence)
        json.name("figures")
        json.object { json in
            for figure in figures {
                json.name(figure.name)
                json.value(figure.value)
            }
        }
        json.name("findings")
        json.array { json in
            for finding in findings { json.value(finding) }
        }
        json.name("furtherFindings")
        json.value(UInt64(furtherFindings))
    }
}

extension LedgerCheck.Result {
    fileprivate var colour: TextStyle.Colour {
        switch self {
        case .ok: .good
        case .failed: .bad
        case .skipped: .note
        }
    }
}
