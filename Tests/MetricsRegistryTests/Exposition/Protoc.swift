// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Google's protobuf compiler, reading and writing pages by the Prometheus schema (Debian: protobuf-compiler and
/// golang-github-prometheus-client-model-dev); tests fail without them.
///
/// Debian's schema is client_model 0.3. The four newer fields of a page are added here, so that results for them
/// depend on their numbers being copied correctly. They are those that Prometheus reads: prometheus/prometheus,
/// prompb/io/prometheus/client/metrics.proto at 0e0afa1a (`Counter.created_timestamp = 3`,
/// `Histogram.created_timestamp = 15`, `Histogram.exemplars = 16`, `MetricFamily.unit = 5`). All others are official.
enum Protoc {
    private static let schema =
        "/usr/share/gocode/src/github.com/prometheus/client_model/io/prometheus/client/metrics.proto"

    /// The fields missing from Debian's schema: the line to follow and the line to add.
    private static let additions = [
        ("optional Exemplar exemplar = 2;", "optional google.protobuf.Timestamp created_timestamp = 3;"),
        (
            "repeated double positive_count    = 14; // Absolute count of each bucket.",
            "optional google.protobuf.Timestamp created_timestamp = 15; repeated Exemplar exemplars = 16;"
        ),
        ("repeated Metric     metric = 4;", "optional string unit = 5;"),
    ]

    private static let timestamp = """
        syntax = "proto3";
        package google.protobuf;
        message Timestamp { int64 seconds = 1; int32 nanos = 2; }
        """

    /// The families of a page as protoc decodes them. Also has protoc encode them again, which must give the same
    /// bytes.
    static func families(of page: [UInt8]) throws -> [ProtobufNode] {
        let bytes = try onePage(page)
        let text = try run(["--decode=io.prometheus.client.Page"], bytes)
        let written = try run(["--encode=io.prometheus.client.Page"], text)
        let isSame = written == bytes
        #expect(isSame, "protoc writes other bytes for the same page")
        return try ProtobufNode.parse(String(decoding: text, as: UTF8.self)).messages("family")
    }

    /// Turns delimited messages into one message with a repeated field by adding its tag.
    private static func onePage(_ delimited: [UInt8]) throws -> [UInt8] {
        var page: [UInt8] = []
        var rest = delimited[...]
        while !rest.isEmpty {
            let start = rest.startIndex
            var (length, shift) = (0, 0)
            while true {
                guard let byte = rest.popFirst() else { throw ParserFailure(said: "a length is cut off") }
                length |= Int(byte & 0x7F) << shift
                shift += 7
                if byte < 0x80 { break }
            }
            try #require(length <= rest.count)
            rest.removeFirst(length)
            page.append(0x0A)
            page += delimited[start..<rest.startIndex]
        }
        return page
    }

    private static func run(_ arguments: [String], _ input: [UInt8]) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "protoc-\(UUID())")
        let google = folder.appending(path: "google/protobuf")
        try FileManager.default.createDirectory(at: google, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(timestamp.utf8).write(to: google.appending(path: "timestamp.proto"))
        try Data(try extendedSchema().utf8).write(to: folder.appending(path: "metrics.proto"))
        let file = folder.appending(path: "input")
        try Data(input).write(to: file)
        let output = folder.appending(path: "output")
        let errors = folder.appending(path: "errors")
        for written in [output, errors] { try Data().write(to: written) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["protoc", "-I", folder.path] + arguments + ["metrics.proto"]
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        let said = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        try #require(process.terminationStatus == 0, "protoc: \(said)")
        return Array(try Data(contentsOf: output))
    }

    private static func extendedSchema() throws -> String {
        var schema = try String(contentsOfFile: schema, encoding: .utf8)
        for (line, addition) in additions {
            let range = try #require(schema.range(of: line), "the schema has changed at \(line)")
            schema.insert(contentsOf: "\n" + addition + "\n", at: range.upperBound)
        }
        return schema + "\nmessage Page { repeated MetricFamily family = 1; }\n"
    }
}
