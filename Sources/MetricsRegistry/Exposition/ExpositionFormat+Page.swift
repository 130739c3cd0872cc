// SPDX-License-Identifier: Apache-2.0

extension ExpositionFormat {
    /// Whether a page tells when its series began.
    var tellsCreated: Bool { hasExemplars && createdSamples }

    /// Whether a page has exemplars.
    var hasExemplars: Bool {
        switch encoding {
        case .text004, .text100: false
        case .openMetrics, .protobuf: true
        }
    }

    /// The format whose layout of a family serves for this one too: the two texts differ in their Content-Type only,
    /// and classic names look the same in every escaping.
    func layoutFormat(hasClassicNames: Bool) -> ExpositionFormat {
        let isText = encoding == .text004 || encoding == .text100
        var format = ExpositionFormat(isText ? .text004 : encoding, escaping: hasClassicNames ? .underscores : escaping)
        format.createdSamples = isText || createdSamples
        return format
    }

    /// Whether a page has native histograms.
    var hasSparseBuckets: Bool { encoding == .protobuf }

    /// What stands behind the last family.
    var epilogue: [UInt8] {
        switch encoding {
        case .text004, .text100, .protobuf: []
        case .openMetrics: Array("# EOF\n".utf8)
        }
    }
}
