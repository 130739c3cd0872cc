// SPDX-License-Identifier: Apache-2.0

/// Label values that are told apart by their bytes, as a page does, and not by what Unicode holds for the same text.
struct LabelBytes: Hashable, Sendable {
    let values: [String]

    init(_ values: [String]) {
        self.values = values
    }

    /// The bytes of all values.
    var count: Int { values.reduce(0) { $0 + $1.utf8.count } }

    static func == (left: LabelBytes, right: LabelBytes) -> Bool {
        left.values.elementsEqual(right.values) { $0.utf8.elementsEqual($1.utf8) }
    }

    func hash(into hasher: inout Hasher) {
        for var value in values {
            hasher.combine(value.utf8.count)
            value.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}
