// SPDX-License-Identifier: Apache-2.0

/// The place of each case of a closed set in an array, found without hashing.
///
/// A value that takes one byte, as an enumeration without payloads and with up to 256 cases does, is its own place;
/// others are searched for.
@usableFromInline
struct CaseIndex<Label: CaseIterable & Equatable & Sendable>: Sendable {
    /// The number of places, some of which may have no case.
    @usableFromInline let count: Int
    private let searched: [Label]

    init() {
        let all = Array(Label.allCases)
        if Self.isByte {
            searched = []
            count = (all.map { Int(Self.byte($0)) }.max() ?? -1) + 1
        } else {
            searched = all
            count = all.count
        }
    }

    /// The place of `label`; `count` or more when it isn't among all cases.
    @inlinable
    func place(of label: Label) -> Int {
        Self.isByte ? Int(Self.byte(label)) : place(searching: label)
    }

    @usableFromInline
    func place(searching label: Label) -> Int {
        searched.firstIndex(of: label) ?? count
    }

    @inlinable static var isByte: Bool {
        MemoryLayout<Label>.size == 1
    }

    @inlinable
    static func byte(_ label: Label) -> UInt8 {
        unsafe withUnsafeBytes(of: label) { unsafe $0[0] }
    }
}
