// SPDX-License-Identifier: Apache-2.0

/// What a scrape has of one family.
struct ProtobufScrape {
    let values: Range<Int>
    let created: Range<Int>
    let sparse: Range<Int>
    private let exemplars: ScrapedExemplars
    private let range: Range<Int>

    init(_ capture: FamilyCapture, _ exemplars: borrowing ScrapedExemplars) {
        values = capture.values
        created = capture.created
        sparse = capture.sparse
        range = capture.exemplars
        self.exemplars = copy exemplars
    }

    var hasExemplars: Bool { !range.isEmpty }

    subscript(exemplar: Int) -> ScrapedExemplar { exemplars[exemplar] }

    @inline(__always)
    func exemplars(ofSeries place: Int) -> Range<Int> {
        range.isEmpty ? range : exemplars.range(ofSeries: place, in: range)
    }

    /// Bytes that the exemplars of a series take at most.
    func room(ofSeries place: Int) -> Int {
        exemplars(ofSeries: place).reduce(0) { $0 + exemplars[$1].exemplar.messageRoom }
    }
}
