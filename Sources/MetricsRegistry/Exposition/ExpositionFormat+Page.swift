// SPDX-License-Identifier: Apache-2.0

extension ExpositionFormat {
    /// Whether a page tells when its series began.
    var tellsCreated: Bool {
        switch encoding {
        case .text004, .text100: false
        case .openMetrics, .protobuf: true
        }
    }

    /// Whether a page has exemplars.
    var hasExemplars: Bool { tellsCreated }

    /// What stands behind the last family.
    var epilogue: [UInt8] {
        switch encoding {
        case .text004, .text100, .protobuf: []
        case .openMetrics: Array("# EOF\n".utf8)
        }
    }
}
