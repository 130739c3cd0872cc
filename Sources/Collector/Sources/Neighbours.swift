// SPDX-License-Identifier: Apache-2.0

/// The files that lay beside a followed one, under the names of generations, while all that had been rotated was read:
/// what is still the same under the same name is no generation of a later rotation.
struct Neighbours: Sendable {
    /// How long they are known before the directory is listed again, in microseconds.
    static let validity: Int64 = 60_000_000

    private var files: [String: FileStatus] = [:]

    init() {}

    init(_ siblings: some Sequence<Sibling>) {
        for sibling in siblings { files[sibling.path] = sibling.status }
    }

    /// Whether it has its name since before. A smaller file is another one that was given the number of the old one.
    func contains(_ sibling: Sibling) -> Bool {
        guard let before = files[sibling.path] else { return false }
        return before.identity == sibling.status.identity && before.size <= sibling.status.size
    }
}
