// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// Reads requests with the official definitions of OTLP, with tables of remote write's fields, and with cramjam's snappy.
enum ExportReader: String {
    case metrics = "otlp-metrics"
    case logs = "otlp-logs"
    case metricsJSON = "otlp-metrics-json"
    case logsJSON = "otlp-logs-json"
    case remoteWrite1 = "remote-write-1"
    case remoteWrite2 = "remote-write-2"
    case snappy

    /// What the reader found; throws where it refuses the request.
    func read(_ request: [UInt8]) throws -> JSONTree {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let found = try Program.run(
            root.appending(path: ".build-python/bin/python3").path,
            [root.appending(path: "Tests/Parsers/read_export.py").path, rawValue],
            input: request
        )
        return JSONTree(try JSONSerialization.jsonObject(with: Data(found), options: .fragmentsAllowed))
    }
}

/// JSON whose members are looked up by name; a missing one is empty.
struct JSONTree: Equatable, CustomStringConvertible {
    private let value: NSObject?

    init(_ value: Any?) {
        self.value = value as? NSObject
    }

    subscript(name: String) -> JSONTree { JSONTree((value as? [String: Any])?[name]) }
    subscript(index: Int) -> JSONTree { JSONTree(list.indices.contains(index) ? list[index].value : nil) }

    var list: [JSONTree] { (value as? [Any] ?? []).map { JSONTree($0) } }
    var text: String? { value as? String }
    /// A number, or the text of one.
    var number: Double? {
        if let text {
            return ["NaN": .nan, "Infinity": .infinity, "-Infinity": -.infinity][text] ?? Double(text)
        }
        return (value as? NSNumber)?.doubleValue
    }
    var isMissing: Bool { value == nil }
    var description: String { value.map { "\($0)" } ?? "nothing" }
}
