// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FleetSimulator
import LogInput
import LogValidation
import TextOutput

/// The log that a fleet takes its habits from.
struct HabitsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take rates and delays from a device's log or from events, in any form that validate reads; - is standard input. --list tells which.",
            valueName: "log"
        ),
        completion: .file()
    )
    var like: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Time zone of the stamps of --like without one, such as Europe/Berlin or +02:00; by default the machine's.",
            valueName: "zone"
        )
    )
    var timezone: String?

    func validate() throws {
        _ = try format()
        if timezone != nil, like == nil { throw ValidationError("expected --like with --timezone") }
    }

    private func format() throws -> LineFormat {
        do throws(InvalidOption) {
            return try LineFormat(timezone: timezone)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// The habits that the log shows; the usual ones without a log.
    ///
    /// - Throws: `ExitCode(2)` after printing why nothing can be taken from it.
    func habits(quiet: Bool) throws -> FleetHabits {
        guard let like else { return FleetHabits() }
        let name = PlainText.line(like)
        let options = JudgementOptions(try format())
        let judgement: Judgement
        do throws(InputError) {
            judgement = try JudgementRun(options).judge([like])
        } catch {
            Terminal.say("Error: --like: \(error)")
            throw ExitCode(2)
        }
        let observed = judgement.habits
        guard observed.passes > 0 else {
            Terminal.say(
                "Error: --like: \(name): expected passes of a schedule whose task was due, found none; "
                    + "dnp-telemetry validate --explain shows what is in it"
            )
            throw ExitCode(2)
        }
        let habits = FleetHabits(observed)
        if !quiet {
            Terminal.say("like \(name): \(observed.passes) passes; \(habits.sentence)")
            if observed.omitted > 0 { Terminal.say("like \(name): \(observed.omitted) more passes were left out") }
        }
        return habits
    }
}

extension FleetHabits {
    /// Those that a log shows; what it does not show is as usual.
    fileprivate init(_ observed: ObservedHabits) {
        self.init()
        for kind in Self.kinds where kind.isLearned {
            guard let course = ObservedHabits.Course(rawValue: kind.name) else { continue }
            self[keyPath: kind.path] = Self.parts(observed.count(course), of: observed.passes)
        }
        // Of those that tell of it.
        for (path, share) in [
            (\Self.contentChanged, observed.changedContent), (\.lowPower, observed.lowPower),
            (\.cellular, observed.cellular),
        ] {
            self[keyPath: path] = share.told > 0 ? Self.parts(share.count, of: share.told) : Self()[keyPath: path]
        }
        delays = Quantiles(ofMicroseconds: observed.delays) ?? delays
        lateDelays = Quantiles(ofMicroseconds: observed.lateDelays) ?? lateDelays
        durations = Quantiles(ofMicroseconds: observed.durations.map { min($0, Self.longestFetch) }) ?? durations
    }

    /// 5 hours, in microseconds: what comes more than 6 hours later may be of another pass (docs/lifecycle.md).
    private static let longestFetch: Int64 = 5 * 3_600 * 1_000_000

    private static func parts(_ count: Int, of all: Int) -> Int64 { Int64(count) * 1_000_000 / Int64(all) }

    /// What is learned, in words.
    fileprivate var sentence: String {
        let rates = Self.kinds.filter { $0.isLearned && self[keyPath: $0.path] > 0 }.map {
            "\($0.name) \(Self.percent(self[keyPath: $0.path]))"
        }
        return (times.map { "\($0.name) \($0.words)" } + rates).joined(separator: ", ")
    }

    private var times: [(name: String, words: String, summary: String)] {
        func words(_ times: Quantiles) -> String {
            "\(Self.seconds(times.percentile(50))) (10 %: \(Self.seconds(times.percentile(10))), "
                + "90 %: \(Self.seconds(times.percentile(90))))"
        }
        return [
            ("delay", words(delays), "from the earliest begin to the execution in its window"),
            ("late-delay", words(lateDelays), "the same of a late task"),
            ("duration", words(durations), "from the execution to the result of the fetch"),
        ]
    }

    /// `4.1 %` of 41,000 parts of a million.
    private static func percent(_ parts: Int64) -> String { "\(parts / 10_000).\(parts / 1_000 % 10) %" }

    /// `4.1 s` of 4,100 ms.
    private static func seconds(_ milliseconds: Int64) -> String {
        "\(milliseconds / 1_000).\(milliseconds / 100 % 10) s"
    }

    /// A line for each habit: its name, its value and what it means.
    var listing: [(name: String, summary: String)] {
        times.map { ($0.name, "\($0.words) \($0.summary)") }
            + Self.kinds.map { ($0.name, "\(Self.percent(self[keyPath: $0.path])) \($0.summary)") }
    }
}
