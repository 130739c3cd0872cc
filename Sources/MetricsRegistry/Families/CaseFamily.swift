// SPDX-License-Identifier: Apache-2.0

/// The instruments of a label with a closed set of values: one per case, created at registration.
///
/// A lookup indexes an array by the case: no hash, no lock.
@safe
public struct CaseFamily<Label: CaseIterable & Equatable & Sendable, Instrument: AnyObject & Sendable>: Sendable {
    @usableFromInline let index: CaseIndex<Label>
    /// By place; nil if no case has it.
    @usableFromInline let instruments: [Instrument?]
    /// The same as unretained references; `instruments` owns them.
    @usableFromInline let uncounted: [Unmanaged<Instrument>?]
    @usableFromInline let unlisted: @Sendable () -> Instrument

    init(unlisted: @escaping @Sendable () -> Instrument, instrument: (Label) -> Instrument) {
        index = CaseIndex()
        self.unlisted = unlisted
        var instruments = [Instrument?](repeating: nil, count: index.count)
        for label in Label.allCases { instruments[index.place(of: label)] = instrument(label) }
        self.instruments = instruments
        unsafe uncounted = instruments.map { unsafe $0.map { unsafe Unmanaged.passUnretained($0) } }
    }

    /// The instrument of this case; that of the overflow series for a value that `Label.allCases` omits.
    @inlinable
    public subscript(_ label: Label) -> Instrument {
        let place = index.place(of: label)
        if place < instruments.count, let instrument = instruments[place] { return instrument }
        return unlisted()
    }

    /// Passes the instrument of this case to `body` without retaining it, which saves two atomic additions on which
    /// threads would contend.
    @inlinable
    public func with(_ label: Label, _ body: (Instrument) -> Void) {
        let place = index.place(of: label)
        guard place < instruments.count, let instrument = unsafe uncounted[place] else { return body(unlisted()) }
        unsafe instrument._withUnsafeGuaranteedRef(body)
    }
}

/// The instruments of two labels with closed sets of values: one per pair of cases, created at registration.
///
/// A lookup indexes an array by the two cases: no hash, no lock.
@safe
public struct CasePairFamily<
    First: CaseIterable & Equatable & Sendable,
    Second: CaseIterable & Equatable & Sendable,
    Instrument: AnyObject & Sendable
>: Sendable {
    @usableFromInline let rows: CaseIndex<First>
    @usableFromInline let columns: CaseIndex<Second>
    /// Row by row, by place; nil where no pair of cases has it.
    @usableFromInline let instruments: [Instrument?]
    /// The same as unretained references; `instruments` owns them.
    @usableFromInline let uncounted: [Unmanaged<Instrument>?]
    @usableFromInline let unlisted: @Sendable () -> Instrument

    init(unlisted: @escaping @Sendable () -> Instrument, instrument: (First, Second) -> Instrument) {
        rows = CaseIndex()
        columns = CaseIndex()
        self.unlisted = unlisted
        var instruments = [Instrument?](repeating: nil, count: rows.count * columns.count)
        for first in First.allCases {
            for second in Second.allCases {
                let place = rows.place(of: first) * columns.count + columns.place(of: second)
                instruments[place] = instrument(first, second)
            }
        }
        self.instruments = instruments
        unsafe uncounted = instruments.map { unsafe $0.map { unsafe Unmanaged.passUnretained($0) } }
    }

    /// The instrument of this pair; that of the overflow series for a value that `allCases` omits.
    @inlinable
    public subscript(_ first: First, _ second: Second) -> Instrument {
        let (row, column) = (rows.place(of: first), columns.place(of: second))
        if row < rows.count, column < columns.count, let instrument = instruments[row * columns.count + column] {
            return instrument
        }
        return unlisted()
    }

    /// Passes the instrument of this pair to `body` without retaining it, which saves two atomic additions on which
    /// threads would contend.
    @inlinable
    public func with(_ first: First, _ second: Second, _ body: (Instrument) -> Void) {
        let (row, column) = (rows.place(of: first), columns.place(of: second))
        guard row < rows.count, column < columns.count,
            let instrument = unsafe uncounted[row * columns.count + column]
        else { return body(unlisted()) }
        unsafe instrument._withUnsafeGuaranteedRef(body)
    }
}

/// The place of each case of a closed set in an array, found without hashing.
///
/// A one-byte value, such as an enumeration without payloads and with up to 256 cases, is its own place; others are
/// searched for.
@usableFromInline
struct CaseIndex<Label: CaseIterable & Equatable & Sendable>: Sendable {
    /// The number of places, some of which may be unused.
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

    /// The place of `label`; `count` or more if it is not among all cases.
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
