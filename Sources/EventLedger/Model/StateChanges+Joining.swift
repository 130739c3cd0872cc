// SPDX-License-Identifier: Apache-2.0

extension StateChanges {
    /// Adds changes that came after these.
    public mutating func append(_ later: StateChanges) {
        for change in later.changes {
            switch change {
            case .put(let key, let value): put(key, value)
            case .remove(let key): remove(key)
            case .removeAll(let prefix): removeAll(prefix: prefix)
            }
        }
    }
}
