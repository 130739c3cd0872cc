// SPDX-License-Identifier: Apache-2.0

/// The instruments of two labels that take their values from closed sets: one for each pair, there from the start.
///
/// A look-up indexes an array by the two cases: no hash, no lock.
public struct CasePairFamily<
    First: CaseIterable & Equatable & Sendable,
    Second: CaseIterable & Equatable & Sendable,
    Instrument: AnyObject & Sendable
>: Sendable {
    @usableFromInline let rows: CaseIndex<First>
    @usableFromInline let columns: CaseIndex<Second>
    /// Row by row, by place; nil where no pair of cases has it.
    @usableFromInline let instruments: [Instrument?]
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
}
