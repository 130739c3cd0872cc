// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import HTTPTypes
import Hummingbird
import LogValidation
import MetricsRegistry
import NIOCore
import TelemetryEvents
import Testing

@testable import Collector

@Suite("The query of a judgement")
struct JudgementQueryTests {
    @Test("a judgement's query takes the options of validate, and leaves out what a form leaves empty")
    func knownParameters() throws {
        let query = try JudgementQuery([
            ("format", "junit"), ("strict", "true"), ("require", "used,delivered"), ("require", "success"),
            ("scenario", ""), ("sequence", "true"), ("excerpt", "true"), ("hints", "false"), ("app", "dnp"),
            ("timezone", "+02:00"),
        ])
        #expect(query.form == .junit)
        #expect(query.hints == false)
        #expect(query.question.requirements == [.used, .delivered, .success])
        #expect(query.question.scenarios.isEmpty && query.question.isStrict && query.question.asksSequence)
        #expect(query.options.apps == [.dnp] && query.options.isExcerpt)
        #expect(try JudgementQuery([]).form == .json)
    }

    @Test(
        "an unknown parameter or value of a judgement's query is refused with the known ones, and never repeated",
        arguments: [
            ("color", "evil", "format, strict, require"), ("format", "evil", "json, text, junit, markdown, artifact"),
            ("strict", "evil", "strict=true or strict=false"), ("require", "evil", "registered, scheduled"),
            ("scenario", "evil", "happy"), ("app", "evil", "dnp, aiq"), ("timezone", "evil", "Europe/Berlin"),
        ]
    )
    func unknownParameters(name: String, value: String, known: String) {
        do throws(Problem) {
            _ = try JudgementQuery([(name, value)])
            Issue.record("it was taken")
        } catch {
            #expect(error.status == .badRequest)
            #expect(error.detail.contains(known) || name == "scenario", "\(error.detail)")
            #expect(!error.detail.contains("evil"))
        }
    }

    @Test("an upload whose judgement takes longer than its limit is refused with 503 and counted")
    func judgementTime() async throws {
        let registry = MetricsRegistry()
        let route = ValidateRoute(
            live: LiveConfiguration(ServeConfiguration(stateDirectory: "/nowhere")),
            metrics: ConsoleMetrics(registry) { 0 },
            maximumTime: .zero
        )
        let line = "2025-11-15T05:41:00Z [DNP-FETCH] Fetch success\n"
        let body = ByteBuffer(string: String(repeating: line, count: 10_000))
        let head = HTTPRequest(method: .post, scheme: "http", authority: "x", path: "/api/v1/validate")
        do {
            _ = try await route.respond(to: Request(head: head, body: .init(buffer: body)))
            Issue.record("it was judged")
        } catch let problem as Problem {
            #expect(problem.status == .serviceUnavailable)
            #expect(problem.type.hasSuffix("judging-time"))
            #expect((problem.retryAfter ?? 0) >= 10)
        }
        let page = RegistryPage(registry)
        #expect(page.number("dnp_telemetry_console_refused_total{reason=\"time\"}") == 1)
    }

    @Test("two uploads are judged at once, a third one only when a place is given back")
    func judgementPlaces() throws {
        let places = JudgementPlaces()
        let first = try #require(JudgementPlaces.Place(places))
        let second = try #require(JudgementPlaces.Place(places))
        #expect(!places.isFree && JudgementPlaces.Place(places) == nil)
        first.giveBack()
        #expect(places.isFree)
        let third = try #require(JudgementPlaces.Place(places))
        #expect(!places.isFree)
        second.giveBack()
        third.giveBack()
    }
}
