// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdCore
import TestSupport
import Testing

@testable import Collector

@Suite("The header Authorization")
struct AuthorizationTests {
    @Test("the Authorization header is a user with a password, a token, or nothing that is understood")
    func authorizationForms() {
        let basic = Authorization.basic(user: Array("alice".utf8), password: Array("a:b".utf8))
        #expect(Authorization(nil) == .missing)
        #expect(Authorization("Basic YWxpY2U6YTpi") == basic)
        #expect(Authorization("bAsIc   YWxpY2U6YTpi") == basic)
        #expect(Authorization("Basic Og==") == .basic(user: [], password: []))
        #expect(Authorization("Bearer abc") == .bearer(Array("abc".utf8)))
        #expect(Authorization("bearer  a b") == .bearer(Array("a b".utf8)))
        for header in [
            "", " ", "Basic", "Bearer", "Bearer ", "Basic !", "Basic YWxpY2U=", "Basic YWxpY2U6YTpi, Basic x",
            "Digest a=b", "abc",
        ] {
            #expect(Authorization(header) == .malformed, "\(header)")
        }
        #expect(Authorization("Bearer " + String(repeating: "x", count: 9_000)) == .malformed)
    }

    @Test("the Authorization header is taken apart without harm whatever it holds")
    func anything() {
        var generator = SplitMix64(3)
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = ["", "Basic ", "Bearer "].randomElement(using: &generator).map {
                $0 + String(decoding: bytes, as: UTF8.self)
            }
            if case .bearer(let token) = Authorization(text) { #expect(token.count <= Authorization.maximumLength) }
        }
    }
}

@Suite("Answers to those who are not let in")
struct AccessProblemTests {
    @Test("access problems tell how to show who one is (RFC 6750, RFC 7617)")
    func challenges() {
        for (problem, challenge) in [
            (Problem.userNeeded, #"Basic realm="dnp-telemetry", charset="UTF-8""#),
            (.tokenNeeded(isWrong: false), #"Bearer realm="dnp-telemetry""#),
            (.tokenNeeded(isWrong: true), #"Bearer realm="dnp-telemetry", error="invalid_token""#),
        ] {
            #expect(problem.response.status == .unauthorized)
            #expect(problem.response.headers[.wwwAuthenticate] == challenge)
            #expect(problem.response.headers[.retryAfter] == nil)
        }
    }

    @Test(
        "access problems tell when to come again, never too early and each a little differently",
        arguments: [(Duration.milliseconds(1), 1...3), (.milliseconds(2_500), 3...5), (.seconds(100), 101...126)]
    )
    func waits(wait: Duration, expected: ClosedRange<Int>) {
        let drawn = Set((0..<2_000).compactMap { _ in Problem.tooFast("Too fast.", wait: wait).retryAfter })
        #expect(drawn == Set(expected))
        #expect(Problem.tooFast("Too fast.", wait: wait).status == .tooManyRequests)
        #expect((1...3).contains(Problem.tooManyPasswords().retryAfter ?? 0))
    }
}

@Suite("Reloads over HTTP")
struct ReloadTurnsTests {
    @Test("a reload requested while one is under way shares it, however long it takes")
    func shared() {
        var turns = ReloadLimiter()
        #expect(turns.ask(at: 5) == .begin)
        #expect(turns.ask(at: 6) == .wait(.nanoseconds(999_999_999)))
        #expect(turns.ask(at: 5 + 10 * ReloadLimiter.interval) == .wait(.seconds(1)))
        turns.ended()
        #expect(turns.ask(at: 5 + 10 * ReloadLimiter.interval) == .begin)
    }

    @Test("reloads over HTTP begin a second apart, and an early request gets a retry hint")
    func apart() {
        var turns = ReloadLimiter()
        #expect(turns.ask(at: 1_000) == .begin)
        turns.ended()
        #expect(turns.ask(at: 1_000) == .wait(.seconds(1)))
        #expect(turns.ask(at: 400_001_000) == .wait(.milliseconds(600)))
        #expect(turns.ask(at: 1_000_001_000) == .begin)
        turns.ended()
        #expect(turns.ask(at: 1_000_001_001) == .wait(.nanoseconds(999_999_999)))
    }
}

@Suite("Tests that documents name")
struct NamedTestsTests {
    private static let root = URL.repository

    /// The names in the last column of every row of a page's tables whose last column has tests, by the first column.
    private static func rows(of page: String) throws -> [(fault: String, tests: [String])] {
        let page = try String(contentsOf: root.appendingPathComponent("docs/\(page)"), encoding: .utf8)
        var hasTests = false
        var rows: [(fault: String, tests: [String])] = []
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("| ") else {
                hasTests = false
                continue
            }
            if line.hasSuffix("| tests |") { hasTests = true }
            guard hasTests, !line.hasSuffix("| tests |"), !line.hasPrefix("| ---") else { continue }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let names = cells.last?.split(separator: "`", omittingEmptySubsequences: false) ?? []
            rows.append((cells.first ?? "", names.indices.filter { $0 % 2 == 1 }.map { String(names[$0]) }))
        }
        return rows
    }

    /// The names of all tests.
    private static func tests() throws -> Set<String> {
        let files = try #require(
            FileManager.default.enumerator(at: root.appendingPathComponent("Tests"), includingPropertiesForKeys: nil)
        )
        var names: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for part in text.components(separatedBy: "@Test(").dropFirst() {
                let rest = part.drop(while: \.isWhitespace)
                if rest.first == "\"" { names.insert(String(rest.dropFirst().prefix { $0 != "\"" })) }
            }
        }
        return names
    }

    @Test(
        "the threat model and the table of faults name tests that there are",
        arguments: [("security.md", 40), ("reliability.md", 20)]
    )
    func namedTestsExist(page: String, atLeast count: Int) throws {
        let tests = try Self.tests()
        let rows = try Self.rows(of: page)
        #expect(rows.count >= count)
        for row in rows {
            #expect(!row.tests.isEmpty, "\(row.fault)")
            #expect(row.tests.filter { !tests.contains($0) } == [], "\(row.fault)")
        }
    }
}
