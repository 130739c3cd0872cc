// SPDX-License-Identifier: Apache-2.0

import ConsoleAssets
import Foundation
import HTTPTypes
import Testing

@testable import Collector

@Suite("The OpenAPI document")
struct OpenAPITests {
    private static func document() throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(ConsoleAsset.openAPI))
        return try #require(object as? [String: Any])
    }

    @Test("the OpenAPI document has each path and method of the console's API, and no other")
    func describedPaths() throws {
        let paths = try #require(try Self.document()["paths"] as? [String: [String: Any]])
        let described = paths.flatMap { path, methods in methods.keys.map { "\($0.uppercased()) \(path)" } }
        let served = ConsoleEndpoint.allCases.map { "\($0.method.rawValue) \($0.path)" }
        #expect(described.sorted() == served.sorted())
    }

    @Test("the OpenAPI document resolves each of its references")
    func references() throws {
        let document = try Self.document()
        var rest: [Any] = [document]
        var count = 0
        while let next = rest.popLast() {
            if let list = next as? [Any] { rest += list }
            guard let object = next as? [String: Any] else { continue }
            rest += object.values
            guard let reference = object["$ref"] as? String else { continue }
            count += 1
            let target = reference.split(separator: "/").dropFirst().reduce(document as Any?) { value, name in
                (value as? [String: Any])?[String(name)]
            }
            #expect(target != nil, "\(reference)")
        }
        #expect(count > 20)
    }

    @Test("the OpenAPI document has the parameters of a judgement")
    func judgementParameters() throws {
        let paths = try #require(try Self.document()["paths"] as? [String: [String: [String: Any]]])
        let parameters = try #require(paths["/api/v1/validate"]?["post"]?["parameters"] as? [[String: Any]])
        let query = parameters.filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String }
        #expect(query.sorted() == JudgementQuery.names.sorted())
    }
}
