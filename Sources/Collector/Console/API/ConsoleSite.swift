// SPDX-License-Identifier: Apache-2.0

internal import ConsoleAssets
internal import Gzip
internal import Hashing

/// The console's files as they are served: each under a name with its content's hash, so that a browser may keep it for
/// ever, and compressed once.
struct ConsoleSite: Sendable {
    /// A file with its name, entity tags and compressed form.
    struct File: Sendable {
        /// Such as `console-0123456789abcdef.js`.
        let name: String
        let contentType: String
        let bytes: [UInt8]
        /// Nil where it is not smaller.
        let gzip: [UInt8]?
        /// A hash of the bytes; the compressed form has a tag of its own, since a strong tag stands for bytes.
        let hash: String

        func tag(isCompressed: Bool) -> String { isCompressed ? "\"\(hash)-gzip\"" : "\"\(hash)\"" }
    }

    /// Why files are no site. Only a change of the files can cause it, and a test finds it.
    enum Flaw: Error, Equatable {
        case noPage
        /// A file of an unknown type.
        case unknownType(String)
        /// Modules that import each other cannot carry each other's hash.
        case circularImport(String)
        /// A reference to a file that is not there.
        case missing(String, in: String)
    }

    /// The page that every view begins with.
    let page: File
    /// By name.
    let assets: [String: File]

    init(_ sources: [ConsoleAsset]) throws(Flaw) {
        let files = sources.map { Self.stripped($0) }
        guard let page = files.first(where: { $0.name == Self.pageName }) else { throw .noPage }
        var names = Naming(files)
        for file in files where file.name != Self.pageName { _ = try names.name(of: file.name, from: []) }
        let text = try names.replacing(in: page, prefix: "/assets/", after: ["href=\"", "src=\""], from: [])
        self.page = try Self.file(text, as: Self.pageName, named: Self.pageName)
        assets = Dictionary(uniqueKeysWithValues: names.finished.values.map { ($0.name, $0) })
    }

    /// The text without indentation, blank lines and whole-line comments but the first, which names the licence.
    ///
    /// No text in the files reaches over a line, so that what the browser runs is the same.
    static func stripped(_ file: ConsoleAsset) -> ConsoleAsset {
        var isComment = false
        let hasComments = file.name.hasSuffix(".js")
        var kept: [Substring] = []
        let text = String(decoding: file.bytes, as: UTF8.self)
        for (number, whole) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = whole.drop { $0 == " " }
            if hasComments, number > 0 {
                if isComment || line.hasPrefix("/*") {
                    isComment = !line.contains("*/")
                    continue
                }
                if line.hasPrefix("//") { continue }
            }
            if !line.isEmpty { kept.append(line) }
        }
        return ConsoleAsset(name: file.name, bytes: Array((kept.joined(separator: "\n") + "\n").utf8))
    }

    private static let pageName = "index.html"

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    ]

    private static func file(_ bytes: [UInt8], as original: String, named name: String) throws(Flaw) -> File {
        guard let type = types[String(original.split(separator: ".").last ?? "")] else { throw .unknownType(original) }
        return File(
            name: name,
            contentType: type,
            bytes: bytes,
            gzip: GzipBody.compress(bytes),
            hash: hash(of: bytes)
        )
    }

    /// 64 bits are enough: the names are no secret, and the files are ours.
    private static func hash(of bytes: [UInt8]) -> String {
        String(SHA256Hash.digest(bytes).hexadecimal.prefix(16))
    }

    /// Gives each file its name, those that it imports first, since its content and so its hash has their names.
    private struct Naming {
        private let files: [String: ConsoleAsset]
        /// By the name in the source.
        private(set) var finished: [String: File] = [:]

        init(_ files: [ConsoleAsset]) {
            self.files = Dictionary(files.map { ($0.name, $0) }) { first, _ in first }
        }

        mutating func name(of original: String, from importers: [String]) throws(Flaw) -> String {
            if let file = finished[original] { return file.name }
            guard !importers.contains(original) else { throw .circularImport(original) }
            guard let source = files[original] else { throw .missing(original, in: importers.last ?? pageName) }
            let bytes =
                original.hasSuffix(".js")
                ? try replacing(
                    in: source,
                    prefix: "./",
                    after: ["from \"", "import \""],
                    from: importers + [original]
                ) : source.bytes
            let parts = original.split(separator: ".", maxSplits: 1)
            let name = "\(parts[0])-\(ConsoleSite.hash(of: bytes)).\(parts.count > 1 ? parts[1] : "")"
            finished[original] = try ConsoleSite.file(bytes, as: original, named: name)
            return name
        }

        /// The text with each reference, which stands behind one of `leads` and begins with the prefix, replaced.
        mutating func replacing(
            in file: ConsoleAsset,
            prefix: String,
            after leads: [String],
            from importers: [String]
        ) throws(Flaw) -> [UInt8] {
            var text = ""
            var rest = Substring(String(decoding: file.bytes, as: UTF8.self))
            while let quote = rest.firstIndex(of: "\"") {
                text += rest[...quote]
                rest = rest[rest.index(after: quote)...]
                guard leads.contains(where: { text.hasSuffix($0) }), rest.hasPrefix(prefix) else { continue }
                let reference = rest.dropFirst(prefix.count).prefix { $0 != "\"" }
                text += prefix + (try name(of: String(reference), from: importers))
                rest = rest[reference.endIndex...]
            }
            return Array((text + rest).utf8)
        }
    }
}
