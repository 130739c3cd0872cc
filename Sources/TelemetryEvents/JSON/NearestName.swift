// SPDX-License-Identifier: Apache-2.0

/// Suggests the intended name for an unknown one.
package enum NearestName {
    /// How many bytes of a given name are compared.
    package static let maximumLength = 80

    /// How long a beginning has to be to stand for the one name that begins with it, in bytes.
    private static let minimumBeginning = 8

    /// The only name that begins with the given one, else the one with the smallest edit distance, when that is small for
    /// its length; the first in order of equal ones.
    package static func of(_ given: String, in names: some Sequence<String>) -> String? {
        let bytes = Array(given.lowercased().utf8.prefix(maximumLength))
        guard bytes.count >= 2 else { return nil }
        if bytes.count >= minimumBeginning {
            let longer = names.filter { $0.utf8.count > bytes.count && $0.lowercased().utf8.starts(with: bytes) }
            if longer.count == 1 { return longer[0] }
        }
        let limit = max(1, bytes.count / 3)
        var nearest: (name: String, distance: Int)?
        for name in names {
            let known = Array(name.lowercased().utf8)
            guard abs(known.count - bytes.count) <= limit else { continue }
            let distance = distance(bytes, known)
            guard distance <= limit else { continue }
            if let nearest, (nearest.distance, nearest.name) <= (distance, name) { continue }
            nearest = (name, distance)
        }
        return nearest?.name
    }

    /// The distance in bytes, with two neighbours that are swapped as one edit (optimal string alignment).
    package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var (before, last) = (Array(0...right.count), Array(0...right.count))
        var row = last
        for (index, byte) in left.enumerated() {
            row[0] = index + 1
            for column in right.indices {
                var least = min(last[column] + (byte == right[column] ? 0 : 1), row[column] + 1, last[column + 1] + 1)
                if index > 0, column > 0, byte == right[column - 1], left[index - 1] == right[column] {
                    least = min(least, before[column - 1] + 1)
                }
                row[column + 1] = least
            }
            swap(&before, &row)
            swap(&before, &last)
        }
        return last.last ?? left.count
    }
}
