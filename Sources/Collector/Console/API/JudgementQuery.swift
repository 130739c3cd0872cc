// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import LogInput
internal import LogValidation
internal import TelemetryEvents

/// The query of a judgement: the options of `validate` that make sense for an upload (docs/console.md).
struct JudgementQuery: Sendable {
    /// The form of the answer.
    enum Form: String, CaseIterable {
        /// As `validate --format json`, `validate` and `validate --junit` write it.
        case json, text, junit
        /// As `report` and `report --format json` write it.
        case markdown, artifact

        var contentType: String {
            switch self {
            case .json, .artifact: "application/json"
            case .text: "text/plain; charset=utf-8"
            case .junit: "application/xml"
            case .markdown: "text/markdown; charset=utf-8"
            }
        }

        fileprivate var isRecord: Bool { self == .markdown || self == .artifact }
    }

    static let names = ["format", "strict", "require", "scenario", "sequence", "excerpt", "hints", "app", "timezone"]
    private static let maximumParameters = 64
    /// The longest value in bytes.
    private static let maximumValue = 512

    private(set) var form = Form.json
    /// Nil for the default of the form.
    private(set) var hints: Bool?
    let question: JudgementQuestion
    let options: JudgementOptions

    init(_ request: Request) throws(Problem) {
        try self.init(request.uri.queryParameters.map { (String($0.key), String($0.value)) })
    }

    init(_ parameters: [(name: String, value: String)]) throws(Problem) {
        guard parameters.count <= Self.maximumParameters else {
            throw .badQuery("Expected at most \(Self.maximumParameters) parameters, found \(parameters.count).")
        }
        var (require, scenario): ([String], [String]) = ([], [])
        var (isStrict, asksSequence, isExcerpt) = (false, false, false)
        var app: App?
        var timezone: String?
        for (name, value) in parameters {
            guard value.utf8.count <= Self.maximumValue else {
                throw .badQuery("Expected values of at most \(Self.maximumValue) bytes, found a longer one.")
            }
            guard Self.names.contains(name) else {
                throw .badQuery("Expected one of \(Self.names.joined(separator: ", ")), found another parameter.")
            }
            // A form sends the fields that were left empty, too.
            guard !value.isEmpty else { continue }
            switch name {
            case "format":
                guard let known = Form(rawValue: value) else {
                    let names = Form.allCases.map(\.rawValue).joined(separator: ", ")
                    throw .badQuery("Expected format= with one of \(names).")
                }
                form = known
            case "strict": isStrict = try Self.truth(value, name)
            case "sequence": asksSequence = try Self.truth(value, name)
            case "excerpt": isExcerpt = try Self.truth(value, name)
            case "hints": hints = try Self.truth(value, name)
            case "require": require.append(value)
            case "scenario": scenario.append(value)
            case "app":
                guard let known = App.allCases.first(where: { "\($0.name)" == value }) else {
                    let names = App.allCases.map { "\($0.name)" }.joined(separator: ", ")
                    throw .badQuery("Expected app= with one of \(names).")
                }
                app = known
            default: timezone = value
            }
        }
        do throws(UnknownQuestion) {
            var question = try JudgementQuestion(require: require, scenario: scenario, app: app)
            question.isStrict = isStrict
            question.asksSequence = asksSequence
            self.question = question
        } catch {
            let sentence = error.expectation(dashes: "")
            throw .badQuery("\(sentence.prefix(1).uppercased())\(sentence.dropFirst()).")
        }
        var options = JudgementOptions(try Self.zone(timezone))
        options.isExcerpt = isExcerpt
        if let app { options.apps = [app] }
        if form.isRecord { options.detail = .testRun(scheduleId: nil) }
        self.options = options
    }

    private static func truth(_ value: String, _ name: String) throws(Problem) -> Bool {
        switch value {
        case "true": return true
        case "false": return false
        default: throw .badQuery("Expected \(name)=true or \(name)=false.")
        }
    }

    private static func zone(_ name: String?) throws(Problem) -> LineFormat {
        do throws(InvalidOption) {
            return try LineFormat(timezone: name)
        } catch {
            throw .badQuery("Expected timezone= with a zone such as Europe/Berlin or +02:00, with + as %2B.")
        }
    }
}
