// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Foundation

/// An error for the operator: printed after `Error: `, without usage.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// What an error at the start says to the operator.
enum StartFailure {
    static func sentence(for error: any Error) -> String {
        if case .full(let detail)? = error as? LedgerError {
            return "no space left for the ledger (\(detail)): free some space and start it again"
        }
        return "\(error)"
    }
}
