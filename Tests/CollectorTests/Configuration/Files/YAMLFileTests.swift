// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Collector

struct YAMLFileTests {
    private func problem(_ text: String) -> String? {
        do throws(ConfigurationProblem) {
            _ = try YAMLFile.parse(text, "c.yml")
            return nil
        } catch {
            return error.description
        }
    }

    @Test("Values keep their text and the line where they stand")
    func lines() throws {
        let node = try YAMLFile.parse(
            "# a\nmax-body: 0x10\n\nlisten:\n  - ':80'\n  - \"a # b\" # c\nweb-config: ~\n",
            "c.yml"
        )
        let entries = try node.entries(["max-body", "listen", "web-config"], "c.yml")
        #expect(entries["max-body"]?.line == 2)
        #expect(try entries["max-body"]?.value.text("c.yml") == "0x10")
        #expect(try entries["listen"]?.value.texts("c.yml").map(\.text) == [":80", "a # b"])
        #expect(try entries["listen"]?.value.texts("c.yml").map(\.line) == [5, 6])
        #expect(entries["web-config"]?.value.value == .empty)
        #expect(try YAMLFile.parse("", "c.yml").entries([], "c.yml").isEmpty)
    }

    @Test(
        "What is wrong is told with its line",
        arguments: [
            ("a: 1\nb: [1\n", "c.yml:3: is no YAML: "),
            ("a: 1\nb: 2\na: 3\n", "c.yml:1: expected each key once, found more of \"a\""),
            ("a: 1\n---\nb: 2\n", "c.yml:2: is no YAML: but found another document"),
            ("a: 1\n? [1]\n: 2\n", "c.yml:2: expected a key, found a list or a mapping"),
            ("a: &x 1\nb: *x\n", "c.yml:1: anchors and aliases are not taken"),
            ("a: 1\nb: [1, *x]\n", "c.yml:2: anchors and aliases are not taken"),
            ("a:\n\t- 1\n", "c.yml:2: is no YAML: "),
            (String(repeating: "[", count: 40), "c.yml:1: values are nested deeper than 16"),
            ("x: 1\n" + String(repeating: "- ", count: 40) + "1", "c.yml:2: values are nested deeper than 16"),
            (
                (0..<20).map { String(repeating: " ", count: $0) + "a:\n" }.joined(),
                "c.yml:17: values are nested deeper than 16"
            ),
        ]
    )
    func problems(text: String, expected: String) {
        let found = problem(text)
        #expect(found?.hasPrefix(expected) == true, "\(found ?? "nothing")")
    }

    @Test("What looks like an anchor in quotes, in a comment or within a word is none")
    func noAnchors() {
        #expect(
            problem("a: '*x'\nb: \"\\\" *x\" # *x\nc: a*b&c\nd: it's * fine\n# &y\n")
                == "c.yml:4: anchors and aliases are not taken; write the value out, or put it in quotes if it begins with & or *"
        )
        #expect(problem("a: '*x'\nb: \"\\\" *x\" # *x\nc: a*b&c\nd: it's fine\n# &y\n") == nil)
    }

    @Test("An unknown key is told with what may have been meant")
    func unknownKey() throws {
        let node = try YAMLFile.parse("max-body: 1\nmax-boddy: 2\n", "c.yml")
        #expect(
            throws: ConfigurationProblem(.file("c.yml", line: 2), "unknown key \"max-boddy\"; did you mean max-body?")
        ) {
            try node.entries(["max-body", "listen"], "c.yml")
        }
        #expect(throws: ConfigurationProblem(.file("c.yml", line: 1), "expected keys and values, found \"x\"")) {
            try YAMLFile.parse("x", "c.yml").entries([], "c.yml")
        }
    }

    @Test("A file that is missing, a directory, too large or not UTF-8 is told")
    func unreadable() throws {
        let directory = try TemporaryDirectory()
        func reading(_ name: String) -> String {
            do throws(ConfigurationProblem) {
                _ = try YAMLFile.read(directory.file(name))
                return "read"
            } catch {
                return error.message
            }
        }
        #expect(reading("missing.yml") == "there is no such file")
        #expect(reading("") == "it is a directory")
        try Files.write([0x61, 0x3A, 0xFF], to: directory.file("bytes.yml"))
        #expect(reading("bytes.yml") == "expected UTF-8, found other bytes")
        try Files.write([UInt8](repeating: 0x20, count: YAMLFile.maximumSize + 1), to: directory.file("large.yml"))
        #expect(reading("large.yml") == "expected at most 262144 bytes, found more")
        try Files.write(Array("a: 1".utf8), to: directory.file("good.yml"))
        #expect(reading("good.yml") == "read")
        #expect(unsafe mkfifo(directory.file("pipe.yml"), 0o600) == 0)
        #expect(reading("pipe.yml") == "it is no regular file")
    }
}
