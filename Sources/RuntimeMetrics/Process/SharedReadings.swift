// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Synchronization

    /// Readings that one scrape at a time uses, for which no other waits.
    final class SharedReadings: Sendable {
        private let readings = Mutex(ProcessReadings())

        /// Does nothing while another thread uses them.
        func use(_ body: (inout ProcessReadings) -> Void) {
            _ = readings.withLockIfAvailable { body(&$0) }
        }
    }
#endif
