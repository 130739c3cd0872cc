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
    static func sentence(for error: any Error, address: String) -> String {
        if case .full(let detail)? = error as? LedgerError {
            return "no space left for the ledger (\(detail)): free some space and start it again"
        }
        let text = "\(error)"
        if text.contains("EADDRINUSE") || text.contains("errno: 98") {
            return "cannot listen on \(address): another process does; stop it or choose another --listen"
        }
        if text.contains("EACCES") || text.contains("errno: 13)") {
            return "cannot listen on \(address): permission denied; choose a port above 1023"
        }
        return text
    }
}
