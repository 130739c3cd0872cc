// SPDX-License-Identifier: Apache-2.0

/// Why a scan of the journal was given up.
enum DeliveryScanError: Error, CustomStringConvertible {
    case unsteady

    var description: String {
        "the journal's files kept coming and going while it was scanned; it is tried again"
    }
}
