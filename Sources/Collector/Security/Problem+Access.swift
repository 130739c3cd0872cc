// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

extension Problem {
    /// A token is needed; `isWrong` where one was shown (RFC 6750, 3).
    static func tokenNeeded(isWrong: Bool) -> Problem {
        Problem(
            status: .unauthorized,
            type: "token",
            title: isWrong ? "Wrong token" : "Token needed",
            detail: "Expected Authorization: Bearer with a token of this service, found "
                + (isWrong ? "another one." : "none."),
            authenticate: #"Bearer realm="dnp-telemetry""# + (isWrong ? #", error="invalid_token""# : "")
        )
    }

    /// A user is needed (RFC 7617).
    static let userNeeded = Problem(
        status: .unauthorized,
        type: "user",
        title: "User and password needed",
        detail: "Expected Authorization: Basic with a user and the password, found none or a wrong one.",
        authenticate: #"Basic realm="dnp-telemetry", charset="UTF-8""#
    )

    static func tooManyPasswords() -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "too-many-passwords",
            title: "Too many passwords",
            detail: "As many passwords as are allowed at once are being checked. Try again.",
            retryAfter: 1 + Int.random(in: 0...2)
        )
    }

    /// - Parameter wait: after how long there is room; what is told is longer by up to a quarter or 2 s.
    static func tooFast(_ detail: String, wait: Duration) -> Problem {
        let seconds = Int(wait.components.seconds) + 1
        return Problem(
            status: .tooManyRequests,
            type: "rate",
            title: "Too fast",
            detail: detail,
            retryAfter: seconds + Int.random(in: 0...max(2, seconds / 4))
        )
    }
}
