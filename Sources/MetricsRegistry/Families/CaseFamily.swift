// SPDX-License-Identifier: Apache-2.0

/// The instruments of a label that takes its values from a closed set: one for each case, there from the start.
///
/// A look-up indexes an array by the case: no hash, no lock.
public struct CaseFamily<Label: CaseIterable & Equatable & Sendable, Instrument: AnyObject & Sendable>: Sendable {
    @usableFromInline let index: CaseIndex<Label>
    /// By place; nil where no case has it.
    @usableFromInline let instruments: [Instrument?]
    @usableFromInline let unlisted: @Sendable () -> Instrument

    init(unlisted: @escaping @Sendable () -> Instrument, instrument: (Label) -> Instrument) {
        index = CaseIndex()
        self.unlisted = unlisted
        var instruments = [Instrument?](repeating: nil, count: index.count)
        for label in Label.allCases { instruments[index.place(of: label)] = instrument(label) }
        self.instruments = instruments
    }

    /// The instrument of this case; that of the overflow series for a value which `Label.allCases` leaves out.
    @inlinable
    public subscript(_ label: Label) -> Instrument {
        let place = index.place(of: label)
        if place < instruments.count, let instrument = instruments[place] { return instrument }
        return unlisted()
    }
}
