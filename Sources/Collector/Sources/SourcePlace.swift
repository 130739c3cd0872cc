// SPDX-License-Identifier: Apache-2.0

/// How far a source has been read, in a form of its own.
protocol SourcePlace: Sendable {
    /// The place with the state of the decoder that has read up to there, as the ledger keeps it.
    func encoded(with state: [UInt8]) -> [UInt8]
}

extension FilePosition: SourcePlace {}
