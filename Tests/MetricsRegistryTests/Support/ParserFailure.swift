// SPDX-License-Identifier: Apache-2.0

/// Why a page could not be read back.
struct ParserFailure: Error, CustomStringConvertible {
    let said: String
    var description: String { said }
}
