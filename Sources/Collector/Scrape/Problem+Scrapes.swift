// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

extension Problem {
    static let tooManyNames = Problem(
        status: .badRequest,
        type: "too-many-names",
        title: "Too many names",
        detail: "Expected at most \(ScrapedNames.most) name[]; leave them out to get all families."
    )

    static func tooManyScrapes() -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "too-many-scrapes",
            title: "Too many scrapes",
            detail: "As many scrapes as are allowed are being answered (see --max-scrapes). Try again.",
            retryAfter: 1 + Int.random(in: 0...2)
        )
    }
}
