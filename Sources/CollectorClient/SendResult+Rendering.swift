// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents
internal import TextOutput

extension SendResult {
    /// The counts on a line, and the first rejections below.
    package func text(quiet: Bool) -> String {
        var text = "\(accepted) accepted, \(duplicates) duplicate, \(rejected) rejected\n"
        if quiet { return text }
        for rejection in rejections { text += "  \(rejection.place): \(PlainText.line(rejection.reason))\n" }
        let more = rejected - UInt64(rejections.count)
        if more > 0, !rejections.isEmpty { text += "  and \(more) more\n" }
        return text
    }

    /// One object with everything.
    package func json() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("ending")
            json.value(ending.word)
            json.name("problem")
            json.value(ending.problem)
            for (name, count) in [
                ("accepted", accepted), ("duplicates", duplicates), ("rejected", rejected),
                ("batches", UInt64(batches)), ("retries", UInt64(retries)),
            ] {
                json.name(name)
                json.value(count)
            }
            json.name("rejections")
            json.array { json in
                for rejection in rejections {
                    json.object { json in
                        json.name("place")
                        json.value(rejection.place)
                        json.name("reason")
                        json.value(rejection.reason)
                    }
                }
            }
            json.name("lines")
            json.object { json in
                for (name, count) in [
                    ("read", lines.read), ("recognised", lines.recognised), ("foreign", lines.foreign),
                    ("unrecognised", lines.unrecognised),
                ] {
                    json.name(name)
                    json.value(count)
                }
            }
        }
        return json.bytes + Array("\n".utf8)
    }
}

extension SendResult.Ending {
    /// The ending as `--format json` names it.
    var word: String {
        switch self {
        case .complete: "complete"
        case .interrupted: "interrupted"
        case .unreadable: "unreadable"
        case .unreachable: "unreachable"
        case .refused: "refused"
        }
    }

    /// What went wrong, in words.
    package var problem: String? {
        switch self {
        case .complete, .interrupted: nil
        case .unreadable(let words), .unreachable(let words), .refused(let words): words
        }
    }
}
