// SPDX-License-Identifier: Apache-2.0

/// What lies beside the file while nothing is to be done.
extension FileTail {
    /// Whether everything was read, so that the directory should be listed; what an earlier look has listed holds then.
    mutating func isNeighbourhoodDue() -> Bool {
        guard files.count == 1, !isBetweenFiles, files[0].identity == pathIdentity else { return false }
        if let listed, listed.time < now {
            neighbours = listed.neighbours
            self.listed = nil
        }
        guard now >= neighboursDue else { return false }
        neighboursDue = now + Neighbours.validity
        return true
    }

    /// The directory was listed while nothing was to be done. That holds from the next look on that finds the same.
    mutating func listed(_ siblings: [Sibling]) {
        let name = RotationName(of: name)
        let open = openIdentities
        let others = siblings.filter { name.isGeneration($0.name) && !open.contains($0.status.identity) }
        tellGrown(others)
        listed = (now, Neighbours(others))
    }
}
