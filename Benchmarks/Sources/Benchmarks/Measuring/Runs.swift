// SPDX-License-Identifier: Apache-2.0

extension [Double] {
    /// The middle value; the mean of the two in the middle for an even count; 0 of none.
    var median: Double {
        guard !isEmpty else { return 0 }
        let ordered = sorted()
        let middle = count / 2
        return count.isMultiple(of: 2) ? (ordered[middle - 1] + ordered[middle]) / 2 : ordered[middle]
    }

    /// The value below which that share of all lies.
    func percentile(_ share: Double) -> Double {
        guard !isEmpty else { return 0 }
        return sorted()[Swift.min(count - 1, Int(Double(count) * share))]
    }

    /// Half the distance of the extremes, as a share of the median.
    var spread: Double {
        guard let low = self.min(), let high = self.max(), median != 0 else { return 0 }
        return (high - low) / 2 / median
    }
}
