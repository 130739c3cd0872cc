// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `dirent` to one of CDispatch, CoreFoundation and Glibc, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc
internal import Hashing

/// A bearer token (RFC 6750), with the name that limits and metrics use, and what it admits to.
///
/// It has no description, so that it can't get into a message.
struct BearerToken: Sendable {
    /// The allowed lengths of a token, in bytes.
    static let lengths = 16...4_096
    /// In bytes.
    static let maximumName = 64

    /// What a token admits to, and how its file is named.
    enum Role: CaseIterable {
        /// Sending events.
        case ingest
        /// Reading the console.
        case read

        var prefix: String {
            switch self {
            case .ingest: "token-"
            case .read: "read-token-"
            }
        }
    }

    var role = Role.ingest
    let name: String
    let bytes: [UInt8]

    /// Why a token is invalid, without its content; nil if it is valid.
    static func complaint(about bytes: [UInt8]) -> String? {
        if bytes.isEmpty { return "expected a token, found an empty file" }
        guard lengths.contains(bytes.count) else {
            return "expected a token of \(lengths.lowerBound) to \(lengths.upperBound) bytes, found "
                + (bytes.count < lengths.lowerBound ? "\(bytes.count)" : "more")
        }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "expected a token of visible ASCII characters in one line, found others"
        }
        return nil
    }

    /// Whether a name is made of letters, digits, `.`, `_` and `-`.
    static func isName(_ name: some StringProtocol) -> Bool {
        (1...maximumName).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

/// The valid tokens, as keyed hashes.
///
/// A presented token is hashed with a key of this process and compared with each valid one in full, so that timing does
/// not reveal how much of a guess is right.
struct TokenSet: Sendable {
    /// Sorted.
    let names: [String]
    private let key = KeyedHash256(key: KeyedHash256.randomKey())
    private let hashes: [[UInt64]]

    static let none = TokenSet([])

    init(_ tokens: [BearerToken]) {
        let sorted = tokens.sorted { $0.name < $1.name }
        names = sorted.map(\.name)
        let key = key
        hashes = sorted.map { key.code(of: $0.bytes).words }
    }

    var isEmpty: Bool { names.isEmpty }

    /// The name of a presented token; nil if it is not valid.
    func name(of shown: [UInt8]) -> String? {
        guard shown.count <= BearerToken.lengths.upperBound else { return nil }
        let hash = key.code(of: shown).words
        var found = -1
        for (index, known) in hashes.enumerated() {
            var difference: UInt64 = 0
            for (left, right) in zip(hash, known) { difference |= left ^ right }
            found = difference == 0 ? index : found
        }
        return names.indices.contains(found) ? names[found] : nil
    }
}

/// Reads the tokens of a directory, as systemd's `LoadCredential=` or a container's secret provides them: files
/// `token-NAME` and `read-token-NAME`, with or without a final line feed.
///
/// Other names are ignored, as the `..data` of a container's secret, and so are backup copies of editors.
/// swift-configuration's `DirectoryFilesProvider` does not fit: it reads files of any size, blocks on pipes, trims all
/// white space, and can't list what it found.
enum TokenDirectory {
    /// More tokens are an error.
    static let maximumTokens = 256
    /// More names in the directory are an error.
    static let maximumNames = 10_000

    /// The stamps of the directory and its tokens, which change when a token does.
    static func stamp(_ directory: String) -> [String: FileStamp] {
        var stamps = ["": FileStamp(directory)]
        for name in (try? names(directory, where: isToken)) ?? [] { stamps[name] = FileStamp("\(directory)/\(name)") }
        return stamps
    }

    /// Whether there are files that are no tokens, other than dot files.
    static func holdsOthers(_ directory: String) -> Bool {
        let others = try? names(directory) { !isToken($0) && !$0.hasPrefix(".") }
        return others?.isEmpty == false
    }

    /// - Throws: the first invalid file, by its path and without its content.
    static func read(_ directory: String) throws(ConfigurationProblem) -> [BearerToken] {
        var tokens: [BearerToken] = []
        for fileName in try names(directory, where: isToken) {
            let path = "\(directory)/\(fileName)"
            let role = BearerToken.Role.allCases.first { fileName.hasPrefix($0.prefix) } ?? .ingest
            let name = String(fileName.dropFirst(role.prefix.count))
            guard BearerToken.isName(name) else {
                throw ConfigurationProblem(
                    .file(path, line: nil),
                    "expected a name of 1 to \(BearerToken.maximumName) letters, digits, \".\", \"_\" and \"-\" "
                        + "behind \"\(role.prefix)\""
                )
            }
            let bytes = try content(path)
            if let complaint = BearerToken.complaint(about: bytes) {
                throw ConfigurationProblem(.file(path, line: nil), complaint)
            }
            if let same = tokens.first(where: { $0.bytes == bytes }) {
                throw ConfigurationProblem(
                    .file(path, line: nil),
                    "expected a token of its own, found that of \(same.role.prefix)\(same.name)"
                )
            }
            tokens.append(BearerToken(role: role, name: name, bytes: bytes))
        }
        return tokens
    }

    private static func content(_ path: String) throws(ConfigurationProblem) -> [UInt8] {
        do throws(SmallFile.Failure) {
            var bytes = try SmallFile.read(path, maximumSize: BearerToken.lengths.upperBound + 2)
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            return bytes
        } catch {
            throw ConfigurationProblem(.file(path, line: nil), error.description)
        }
    }

    private static func isToken(_ name: String) -> Bool {
        BearerToken.Role.allCases.contains { name.hasPrefix($0.prefix) } && !name.hasSuffix("~")
            && !name.hasSuffix(".swp")
    }

    private static func found(_ code: Int32) -> String {
        switch code {
        case ENOENT: "nothing"
        case ENOTDIR: "a file"
        case EACCES, EPERM: "one that this user may not read"
        default: unsafe "one that cannot be read: \(String(cString: strerror(code)))"
        }
    }

    /// The wanted names of a directory, sorted.
    private static func names(
        _ directory: String,
        where isWanted: (String) -> Bool
    ) throws(ConfigurationProblem) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw ConfigurationProblem(
                .file(directory, line: nil),
                "expected the directory of the credentials, found \(Self.found(errno)); put the tokens there, or leave "
                    + "credentials-dir out"
            )
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        var seen = 0
        while let entry = unsafe readdir(stream) {
            seen += 1
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if isWanted(name) { names.append(name) }
            guard names.count <= maximumTokens, seen <= maximumNames else {
                throw ConfigurationProblem(
                    .file(directory, line: nil),
                    "expected at most \(maximumTokens) tokens among \(maximumNames) files, found more"
                )
            }
        }
        return names.sorted()
    }
}
