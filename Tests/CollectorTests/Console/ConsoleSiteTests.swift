// SPDX-License-Identifier: Apache-2.0

import ConsoleAssets
import Foundation
import Gzip
import HTTPTypes
import HummingbirdCore
import NIOCore
import TestSupport
import Testing

@testable import Collector

@Suite("The console's files")
struct ConsoleSiteTests {
    private static func asset(_ name: String, _ text: String) -> ConsoleAsset {
        ConsoleAsset(name: name, bytes: Array(text.utf8))
    }

    private static let page = asset(
        "index.html",
        #"<link href="/assets/a.css"><script type="module" src="/assets/a.js"></script><a href="/cycles">"#
    )

    private static func site(_ modules: [String: String]) throws(ConsoleSite.Flaw) -> ConsoleSite {
        try ConsoleSite(
            [page, asset("a.css", "a {}\n")] + modules.sorted { $0.key < $1.key }.map { asset($0.key, $0.value) }
        )
    }

    @Test("every reference between the console's files has the hash of what it names")
    func referencesHaveHashes() throws {
        let site = try Self.site([
            "a.js": "import { b } from \"./b.js\";\nimport {\n  c,\n} from \"./c.js\";\nb(\"./b.js\");\n",
            "b.js": "import \"./c.js\";\nexport const b = c;\n", "c.js": "export const c = \"/assets/c.js\";\n",
        ])
        let names = site.assets.keys.sorted()
        #expect(names.map { $0.prefix { $0 != "-" } } == ["a", "a", "b", "c"])
        let text = String(decoding: site.page.bytes, as: UTF8.self)
        for name in names.prefix(2) { #expect(text.contains("\"/assets/\(name)\"")) }
        #expect(text.contains("href=\"/cycles\""))
        let script = try #require(names.first { $0.hasSuffix(".js") })
        let source = String(decoding: try #require(site.assets[script]).bytes, as: UTF8.self)
        #expect(source.contains("from \"./\(names[2])\"") && source.contains("from \"./\(names[3])\""))
        // What is no import stays.
        #expect(source.contains("b(\"./b.js\")"))
    }

    @Test("a change of a console module changes the names of those that import it, and of no other")
    func namesFollowContent() throws {
        let before = try Self.site(["a.js": "import \"./b.js\";", "b.js": "1", "c.js": "2"]).assets.keys
        let after = try Self.site(["a.js": "import \"./b.js\";", "b.js": "3", "c.js": "2"]).assets.keys
        #expect(Set(before).intersection(after).map { $0.prefix { $0 != "-" } }.sorted() == ["a", "c"])
        #expect(Set(before).intersection(after).contains { $0.hasSuffix(".css") })
    }

    @Test("console files that import each other, or name a file that is not there, are no site")
    func flaws() {
        #expect(throws: ConsoleSite.Flaw.circularImport("a.js")) {
            try Self.site(["a.js": "import \"./b.js\"", "b.js": "import \"./a.js\""])
        }
        #expect(throws: ConsoleSite.Flaw.missing("z.js", in: "a.js")) { try Self.site(["a.js": "import \"./z.js\""]) }
        #expect(throws: ConsoleSite.Flaw.missing("a.js", in: "index.html")) { try Self.site([:]) }
        #expect(throws: ConsoleSite.Flaw.unknownType("a.exe")) { try Self.site(["a.js": "", "a.exe": ""]) }
        #expect(throws: ConsoleSite.Flaw.noPage) { try ConsoleSite([]) }
    }

    @Test("the console is below 100 KB as it is served, and below half of that compressed")
    func size() throws {
        let site = try ConsoleSite(ConsoleAsset.all)
        let files = Array(site.assets.values) + [site.page]
        #expect(files.reduce(0) { $0 + $1.bytes.count } < 100_000)
        #expect(files.reduce(0) { $0 + ($1.gzip ?? $1.bytes).count } < 50_000)
    }

    @Test("the console's own files are compiled in whole, make a site, and leave no reference without a hash")
    func ownFiles() throws {
        let folder = URL.repository.appendingPathComponent("Sources/Collector/Console/Assets/Files")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(ConsoleAsset.all.map(\.name).sorted() == names.sorted())
        for asset in ConsoleAsset.all {
            #expect(
                try Data(asset.bytes) == Data(contentsOf: folder.appendingPathComponent(asset.name)),
                "\(asset.name)"
            )
        }
        let site = try ConsoleSite(ConsoleAsset.all)
        for file in Array(site.assets.values) + [site.page] {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for name in names where name != "index.html" {
                #expect(!text.contains("/assets/\(name)\"") && !text.contains("from \"./\(name)\""), "\(file.name)")
            }
            if let gzip = file.gzip {
                #expect(try GzipDecoder.decode(gzip.span, maximumBytes: 1 << 20, maximumRatio: 1_000) == file.bytes)
            }
        }
        // Nothing comes from elsewhere, and nothing makes HTML of text.
        for asset in ConsoleAsset.all {
            let text = String(decoding: asset.bytes, as: UTF8.self)
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=\"", "onclick=",
            ] {
                #expect(!text.contains(word), "\(asset.name): \(word)")
            }
        }
    }
}

@Suite("Answers that a browser may keep")
struct ConditionalResponseTests {
    private static let answer = ConditionalResponse(json: Array(String(repeating: "[1,2,3]\n", count: 500).utf8))

    private static func request(_ headers: HTTPFields) -> Request {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/", headerFields: headers)
        return Request(head: head, body: .init(buffer: ByteBuffer()))
    }

    @Test("a console answer is 304 to a client that has the same bytes, in the coding that it gets")
    func conditional() throws {
        let plain = Self.answer.response(to: Self.request([:]))
        let packed = Self.answer.response(to: Self.request([.acceptEncoding: "br, gzip"]))
        let tags = [plain, packed].map { $0.headers[.eTag] ?? "" }
        #expect(plain.status == .ok && packed.status == .ok && Set(tags).count == 2)
        #expect(packed.headers[.contentEncoding] == "gzip" && plain.headers[.contentEncoding] == nil)
        #expect(plain.headers[.vary] == "Accept-Encoding")
        for header in [tags[0], "W/\(tags[0])", "\"x\", \(tags[0])", "*"] {
            let answer = Self.answer.response(to: Self.request([.ifNoneMatch: header]))
            #expect(answer.status == .notModified, "\(header)")
            #expect(answer.headers[.eTag] == tags[0])
        }
        for header in [tags[1], "\"x\"", String(tags[0].dropLast()), "", "W/"] {
            #expect(Self.answer.response(to: Self.request([.ifNoneMatch: header])).status == .ok, "\(header)")
        }
    }

    @Test("only a client that names HTML gets the console's page at the root")
    func wantsHTML() {
        #expect(ConsolePages.wantsHTML("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"))
        #expect(ConsolePages.wantsHTML("*/*, Text/HTML;q=1"))
        for accept in [nil, "*/*", "text/plain", "application/json", "text/htmlx", ""] {
            #expect(!ConsolePages.wantsHTML(accept), "\(accept ?? "none")")
        }
    }
}
