// SPDX-License-Identifier: Apache-2.0

extension DecodedEvents {
    /// Appends what a later call found in the same log.
    public mutating func append(_ later: DecodedEvents) {
        append(later, firstLine: 0)
        lines += later.lines
        untimedLines += later.untimedLines
        isBlank = isBlank && later.isBlank
    }
}
