// SPDX-License-Identifier: Apache-2.0

/// The directory in which the tokens are looked for.
package struct CredentialsDirectory: Hashable, Sendable {
    /// Where it is.
    package var path: String
    /// Whether it was told for its tokens, of which it must hold one at the start then. Else it is the service manager's,
    /// which may hand over other secrets only.
    package var mustHoldTokens: Bool

    /// A directory at a path.
    package init(_ path: String, mustHoldTokens: Bool) {
        self.path = path
        self.mustHoldTokens = mustHoldTokens
    }
}
