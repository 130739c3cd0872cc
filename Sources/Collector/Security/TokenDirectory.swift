// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `dirent` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

/// Reads the tokens of a directory, as `LoadCredential=` of a unit or a secret of a container gives them: a file
/// `token-NAME` each, with a line feed at its end or not. What begins otherwise is passed over, as the `..data` of a
/// container's secrets is, and so are the copies that editors leave.
///
/// swift-configuration's `DirectoryFilesProvider` does not suit: it reads every file whole whatever its size, waits on
/// pipes, takes all white space off, and cannot list what it found.
enum TokenDirectory {
    static let prefix = "token-"
    /// How many tokens there may be.
    static let maximumTokens = 256
    /// How many names a directory may hold that are looked through.
    static let maximumNames = 10_000

    /// What changes when a token does.
    static func stamp(_ directory: String) -> [String: FileStamp] {
        var stamps = ["": FileStamp(directory)]
        for name in (try? names(directory, where: isToken)) ?? [] { stamps[name] = FileStamp("\(directory)/\(name)") }
        return stamps
    }

    /// Whether there are files that are no tokens, those that begin with a dot aside.
    static func holdsOthers(_ directory: String) -> Bool {
        let others = try? names(directory) { !isToken($0) && !$0.hasPrefix(".") }
        return others?.isEmpty == false
    }

    /// - Throws: the first file that cannot be taken, by its path and without its content.
    static func read(_ directory: String) throws(ConfigurationProblem) -> [BearerToken] {
        var tokens: [BearerToken] = []
        for fileName in try names(directory, where: isToken) {
            let path = "\(directory)/\(fileName)"
            let name = String(fileName.dropFirst(prefix.count))
            guard BearerToken.isName(name) else {
                throw ConfigurationProblem(
                    .file(path, line: nil),
                    "expected a name of 1 to \(BearerToken.maximumName) letters, digits, \".\", \"_\" and \"-\" "
                        + "behind \"\(prefix)\""
                )
            }
            let bytes = try content(path)
            if let complaint = BearerToken.complaint(about: bytes) {
                throw ConfigurationProblem(.file(path, line: nil), complaint)
            }
            if let same = tokens.first(where: { $0.bytes == bytes }) {
                throw ConfigurationProblem(
                    .file(path, line: nil),
                    "expected a token of its own, found that of \(prefix)\(same.name)"
                )
            }
            tokens.append(BearerToken(name: name, bytes: bytes))
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
        name.hasPrefix(prefix) && !name.hasSuffix("~") && !name.hasSuffix(".swp")
    }

    /// Some of the names that a directory holds, in order.
    private static func names(
        _ directory: String,
        where isWanted: (String) -> Bool
    ) throws(ConfigurationProblem) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw ConfigurationProblem(
                .file(directory, line: nil),
                "expected the directory of the credentials, which cannot be read (errno \(errno))"
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
