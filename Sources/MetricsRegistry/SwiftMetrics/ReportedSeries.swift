// SPDX-License-Identifier: Apache-2.0

/// The series that a report writes to.
struct ReportedSeries<Member: Instrument>: Sendable {
    let member: Member
    let family: ReportedFamily<Member>
}
