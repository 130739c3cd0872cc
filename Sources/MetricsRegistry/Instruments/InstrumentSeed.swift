// SPDX-License-Identifier: Apache-2.0

/// What a new series is made from.
struct InstrumentSeed {
    var labelValues: [String] = []
    var created: Int64
    var shape: SampleShape
    /// Counts the values that the instrument has to ignore; nil for the registry's own counters.
    var ignoredValues: Counter?
}
