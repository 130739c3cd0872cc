// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
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
            ("a: 1\nb: [1\n", "c.yml:3: is not YAML: "),
            ("a: 1\nb: 2\na: 3\n", "c.yml:1: expected each key once, found more of \"a\""),
            ("a: 1\n---\nb: 2\n", "c.yml:2: is not YAML: but found another document"),
            ("a: 1\n? [1]\n: 2\n", "c.yml:2: expected a key, found a list or a mapping"),
            ("a: &x 1\nb: *x\n", "c.yml:1: anchors and aliases are not supported"),
            ("a: 1\nb: [1, *x]\n", "c.yml:2: anchors and aliases are not supported"),
            ("a:\n\t- 1\n", "c.yml:2: is not YAML: "),
            ("- 1\n" + String(repeating: "- ", count: 40) + "1", "c.yml:2: values are nested deeper than 16"),
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

    @Test(
        "Anchors and aliases are found wherever they hide",
        arguments: [
            ("a: &x 1\n", 1), ("a: *x\n", 1), ("&x a: 1\n", 1), ("*x : 1\n", 1), ("a: 1\nb: [1, &x 2]\n", 2),
            ("a: {b: &x 1}\n", 1), ("a: {&x b: 1}\n", 1), ("a: [*x]\n", 1), ("&x [1]\n", 1), ("- &x\n  a: 1\n", 1),
            ("a: &x !!str 1\n", 1), ("a: !!str &x 1\n", 1), ("a: &x\n", 1), ("a: &x 'b'\n", 1), ("a: &x |\n  b\n", 1),
            ("? &x a\n: 1\n", 1), ("--- &x\na: 1\n", 1), ("a:\r\n  - 1\r\n  - &x 2\r\n", 3),
            // Behind what begins a quote or a comment for who looks at characters only.
            ("a: it is \"b\nb: &x 1\nc: \"d\"\n", 2), ("a: it's 'b\nb: &x 1\n", 2), ("a: |\n  \"\nb: &x 1\n", 3),
            ("a: >\n  '\nb: &x 1\nc: 'd'\n", 3), ("a: b#c \"\nb: &x 1\n", 2), ("a: [b \"c]\nb: &x 1\n", 2),
            ("a: '''\n  '\nb: &x 1\n", 3), ("\u{FEFF}a: &x 1\n", 1), ("a: \"\\\\\"\nb: &x 1\n", 2),
            ("a: &x 1\nb: [*x, *x]\n? [*x, *x]\n: 1\n", 1),
        ]
    )
    func anchors(text: String, line: Int) {
        #expect(
            problem(text)
                == "c.yml:\(line): anchors and aliases are not supported; write the value out, or put it in quotes if it "
                + "begins with & or *"
        )
    }

    @Test(
        "What looks like an anchor or an alias and is none is a value",
        arguments: [
            ("a: '*x'", "*x"), ("a: \"&x\"", "&x"), ("a: \"\\\" *x\" # *x &y", "\" *x"), ("a: b*c&d", "b*c&d"),
            ("a: it's * & fine", "it's * & fine"), ("# &x *y\na: b", "b"), ("a: |\n  &x\n  *y", "&x\n*y"),
            ("a: >-\n  b\n  *y &x", "b *y &x"), ("a: b\n  *c\n  &d", "b *c &d"), ("a: 'b\n  *c'", "b *c"),
            ("a: http://x?b=1&c=*", "http://x?b=1&c=*"),
        ]
    )
    func noAnchors(text: String, value: String) throws {
        let entries = try YAMLFile.parse(text, "c.yml").entries(["a"], "c.yml")
        #expect(try entries["a"]?.value.text("c.yml") == value)
    }

    @Test("Keys that differ by what begins an alias are two")
    func starredKeys() throws {
        let keys = ["a*b", "a+b", "a\u{E000}b", "a\u{E001}b", "a_b"]
        let entries = try YAMLFile.parse(keys.map { "\($0): 1\n" }.joined(), "c.yml").entries(keys, "c.yml")
        #expect(entries.count == keys.count)
    }

    @Test(
        "What would mean something else, or nothing for certain, is refused",
        arguments: [
            ("a: !!binary aGVsbG8=\n", "c.yml:1: tags are not supported"),
            ("a: !!int 1\n", "c.yml:1: tags are not supported"),
            ("a: !x 1\n", "c.yml:1: tags are not supported"), ("!x a: 1\n", "c.yml:1: tags are not supported"),
            ("a: !!map b\n", "c.yml:1: tags are not supported"), ("a: !!set {b}\n", "c.yml:1: tags are not supported"),
            ("a: 1\n<<: {b: 1}\n", "c.yml:2: merge keys are not supported"),
            ("a: {<<: b}\n", "c.yml:1: merge keys are not supported"),
            ("a: 1\n'a': 2\n", "c.yml:1: expected each key once, found more of \"a\""),
            ("a: 1\n!!str a: 2\n", "c.yml:1: expected each key once, found more of \"a\""),
            ("a: 1\r\nb: 2\r\nb: 3\r\n", "c.yml:2: expected each key once, found more of \"b\""),
            ("A B: 1\nA B: 2\n", "c.yml:1: expected each key once, found one again"),
            ("---\n---\na: 1\n", "c.yml:2: is not YAML: but found another document"),
            ("a: 1\n...\nb: 2\n", "c.yml:3: is not YAML: "),
            ("a: 1\n--- b\n", "c.yml:2: is not YAML: but found another"),
            ("a: 1\0b: 2\n", "c.yml: is not YAML: control characters are not allowed"),
            ("\ta: 1\n", "c.yml:1: is not YAML: "), ("a: [\"\\ud800\"]\n", "c.yml:1: is not YAML: "),
            ("a: */5\n", "c.yml:1: is not YAML: "), ("a: - &x\n", "c.yml:1: is not YAML: "),
            ("%YAML 3.0\n---\na: 1\n", "c.yml:1: is not YAML: "),
        ]
    )
    func meanings(text: String, expected: String) {
        let found = problem(text)
        #expect(found?.hasPrefix(expected) == true, "\(found ?? "nothing")")
    }

    @Test("A byte order mark, CRLF, tabs and the marks of one document change nothing")
    func forms() throws {
        for text in [
            "\u{FEFF}a: 1\nb: [2]\n", "a: 1\r\nb: [2]\r\n", "a:\t1\nb:\t[ 2\t]\n", "---\na: 1\nb: [2]\n...\n",
            "%YAML 1.1\n---\na: 1\nb: [2]\n", "{\"a\": '1', b: [\"2\",],}", "a: ! 1\nb: !!seq [!!str 2]\n",
        ] {
            let entries = try YAMLFile.parse(text, "c.yml").entries(["a", "b"], "c.yml")
            #expect(try entries["a"]?.value.text("c.yml") == "1")
            #expect(try entries["b"]?.value.texts("c.yml").map(\.text) == ["2"])
        }
        let long = String(repeating: "x", count: 200_000)
        #expect(try YAMLFile.parse("a: \(long)", "c.yml").entries(["a"], "c.yml")["a"]?.value.text("c.yml") == long)
    }

    @Test(
        "Depth is bounded before it costs, in every form",
        .timeLimit(.minutes(1)),
        arguments: [
            ("[", 250_000, ""), ("{a: ", 60_000, ""), ("[", 100_000, "]"), ("- ", 120_000, ""), ("? ", 120_000, ""),
            ("{? ", 80_000, ""), ("[a: ", 60_000, "]"), ("[", 990, "]"), ("[", 17, "]"), ("- ", 980, ""),
        ]
    )
    func depth(opening: String, count: Int, closing: String) {
        for before in ["", "it is \"b\n"] {
            let text = String(repeating: opening, count: count) + "1" + String(repeating: closing, count: count)
            let found = problem(before.isEmpty ? text : "a: \(before)b:\n  \(text)\n")
            #expect(found?.contains("values are nested deeper than 16") == true, "\(found ?? "nothing")")
        }
    }

    @Test("An unknown key is told with what may have been meant")
    func unknownKey() throws {
        let node = try YAMLFile.parse("max-body: 1\nmax-boddy: 2\n", "c.yml")
        #expect(
            throws: ConfigurationProblem(.file("c.yml", line: 2), "unknown key \"max-boddy\"; did you mean max-body?")
        ) {
            try node.entries(["max-body", "listen"], "c.yml")
        }
        #expect(throws: ConfigurationProblem(.file("c.yml", line: 1), "expected keys and values, found a single value"))
        {
            try YAMLFile.parse("x", "c.yml").entries([], "c.yml")
        }
        for key in ["Sesame Open", "SESAME", "sesame=", String(repeating: "sesame", count: 11)] {
            #expect(throws: ConfigurationProblem(.file("c.yml", line: 1), "unknown key")) {
                try YAMLFile.parse("\(key): 1\n", "c.yml").entries(["max-body"], "c.yml")
            }
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
