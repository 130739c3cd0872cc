// SPDX-License-Identifier: Apache-2.0

/// The instruments of a label that takes its values from a closed set: one for each case, there from the start.
///
/// A look-up indexes an array by the case: no hash, no lock.
@safe
public struct CaseFamily<Label: CaseIterable & Equatable & Sendable, Instrument: AnyObject & Sendable>: Sendable {
    @usableFromInline let index: CaseIndex<Label>
    /// By place; nil where no case has it.
    @usableFromInline let instruments: [Instrument?]
    /// The same without their references, which `instruments` counts.
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

    /// The instrument of this case; that of the overflow series for a value which `Label.allCases` leaves out.
    @inlinable
    public subscript(_ label: Label) -> Instrument {
        let place = index.place(of: label)
        if place < instruments.count, let instrument = instruments[place] { return instrument }
        return unlisted()
    }

    /// Gives `body` the instrument of this case, as the subscript does, without counting a reference to it: two atomic
    /// additions less, for which several threads would contend.
    @inlinable
    public func with(_ label: Label, _ body: (Instrument) -> Void) {
        let place = index.place(of: label)
        guard place < instruments.count, let instrument = unsafe uncounted[place] else { return body(unlisted()) }
        unsafe instrument._withUnsafeGuaranteedRef(body)
    }
}
