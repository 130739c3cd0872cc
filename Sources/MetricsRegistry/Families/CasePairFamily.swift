// SPDX-License-Identifier: Apache-2.0

/// The instruments of two labels that take their values from closed sets: one for each pair, there from the start.
///
/// A look-up indexes an array by the two cases: no hash, no lock.
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
    /// The same without their references, which `instruments` counts.
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

    /// The instrument of this pair; that of the overflow series for a value which `allCases` leaves out.
    @inlinable
    public subscript(_ first: First, _ second: Second) -> Instrument {
        let (row, column) = (rows.place(of: first), columns.place(of: second))
        if row < rows.count, column < columns.count, let instrument = instruments[row * columns.count + column] {
            return instrument
        }
        return unlisted()
    }

    /// Gives `body` the instrument of this pair, as the subscript does, without counting a reference to it: two atomic
    /// additions less, for which several threads would contend.
    @inlinable
    public func with(_ first: First, _ second: Second, _ body: (Instrument) -> Void) {
        let (row, column) = (rows.place(of: first), columns.place(of: second))
        guard row < rows.count, column < columns.count,
            let instrument = unsafe uncounted[row * columns.count + column]
        else { return body(unlisted()) }
        unsafe instrument._withUnsafeGuaranteedRef(body)
    }
}
