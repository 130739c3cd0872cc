// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

extension LifecycleFold {
    /// The open cycles without an installation, for a source that becomes a device of its own. O(open cycles).
    public func cyclesWithoutInstallation(now: Timestamp) -> CarriedCycles {
        var open: [CarriedCycles.Cycle] = []
        for slot in 0..<cycles.count where cycles[slot].installation == 0 {
            open.append(
                CarriedCycles.Cycle(schedule: cycles[slot].schedule, due: cycles[slot].due, base: cycles[slot].base)
            )
        }
        return CarriedCycles(open, now: now)
    }
}
