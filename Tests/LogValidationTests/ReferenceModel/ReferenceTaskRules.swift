// SPDX-License-Identifier: Apache-2.0

/// The rules about tasks: when they are scheduled and when they run.
extension ReferenceModel {
    /// Whether a task was scheduled while one for another notification waited to run.
    func secondTask(_ pass: Pass, among passes: [Pass]) -> Ruling {
        var ruling = Ruling.no
        for submission in pass.tasks {
            for other in passes where other.name != pass.name {
                for waiting in other.tasks {
                    let own = isWaiting(waiting, of: other, at: submission, of: pass)
                    // Submitted anew it may be the same task as before.
                    let isFirst = submission == pass.tasks.first && waiting == other.tasks.first
                    ruling = ruling || (own == .no || isFirst ? own : .arguable)
                }
            }
        }
        return ruling
    }

    private func isWaiting(_ task: ToldEvent, of other: Pass, at submission: ToldEvent, of pass: Pass) -> Ruling {
        let time = submission.time
        // A form without an earliest begin beside several with one may be another form of any of them.
        if [pass, other].contains(where: { $0.isToldInTwoForms && $0.submissions.count > 1 }) { return .arguable }
        guard task.time <= time else { return .no }
        let executed = other.events("prefetch_executed").first { $0.time >= task.time }?.time
        if let executed, executed <= time { return .no }
        guard other.name.due != nil, pass.name.due != nil, task.time < time else { return .arguable }
        if let due = other.name.due, due <= time { return .arguable }
        // After its notification nothing may be left of a task.
        let ends = ["notification_delivered", "prefetch_used_for_notification", "prefetch_missed", "content_missing"]
        return other.events.contains { ends.contains($0.event.kind) && $0.event.time <= time } ? .arguable : .yes
    }

    /// Whether a task was scheduled after notifications were denied for its cycle, or for the installation.
    func scheduledWhileDenied(_ pass: Pass, _ stream: Stream) -> Ruling {
        let permissions = stream.events("notification_denied", "permission_granted")
        var ruling = Ruling.no
        for submission in pass.events("prefetch_scheduled") {
            let before = permissions.last { $0.time < submission.time }
            var isDenied = Ruling(before?.kind == "notification_denied")
            // What is told in one second has no order.
            if permissions.contains(where: { $0.time == submission.time }) { isDenied = .arguable }
            if permissions.contains(where: { $0.time == before?.time && $0.kind != before?.kind }) {
                isDenied = .arguable
            }
            // The same submission told again after a denial was made before it.
            let isFirst = pass.submissions.contains(submission)
            if isDenied == .yes, !isFirst { isDenied = .arguable }
            ruling = ruling || isDenied
        }
        return ruling
    }

    func shortLead(_ pass: Pass) -> Ruling {
        var ruling = Ruling.no
        for told in pass.submissions {
            if let begin = told.begin, begin < told.time + rules.minimumLead { ruling = .yes }
        }
        return ruling
    }

    /// Whether nothing was scheduled within a day of the last execution, although the stream goes on.
    func nextMissing(_ judged: JudgedPass, _ stream: Stream) -> Ruling {
        guard let executed = judged.attempts.compactMap(\.executed).last else { return .no }
        let end = executed + rules.nextTask
        let hasNext = stream.events("prefetch_scheduled").contains { $0.time >= executed && $0.time <= end }
        return stream.end > end && !hasNext ? .yes : .no
    }

    /// Holds each submission against the first execution after it, and each execution against the submission before it.
    func missedWindow(_ judged: JudgedPass, _ stream: Stream) -> Ruling {
        let pass = judged.pass
        if pass.contains("prefetch_missed") { return .yes }
        // Which of its tellings the execution followed depends on the begin that the other form does not name.
        if pass.isToldInTwoForms { return .arguable }
        let submissions = pass.submissions.filter { $0.begin != nil }
        let executions = judged.attempts.compactMap(\.executed)
        var ruling = Ruling.no
        for executed in executions {
            guard let submission = submissions.last(where: { $0.time <= executed }), let begin = submission.begin else {
                continue
            }
            // A second execution of one submission was held against it already.
            let isFirst = !executions.contains { $0 >= submission.time && $0 < executed }
            if executed > begin + rules.startWindow { ruling = ruling || (isFirst ? .yes : .arguable) }
        }
        for (place, submission) in submissions.enumerated() {
            guard let begin = submission.begin else { continue }
            let end = begin + rules.startWindow
            let next = place + 1 < submissions.count ? submissions[place + 1].time : Int.max
            if executions.contains(where: { $0 >= submission.time && $0 < next }) { continue }
            let wasRunUnseen = pass.contains("prefetch_success") || !judged.failures.isEmpty
            if next < Int.max {
                // Submitted anew: what was replaced while it waited has missed nothing.
                ruling = ruling || (next > end ? .yes : .no)
            } else {
                let isOver = isOver(end, stream)
                ruling = ruling || (isOver == .yes && executions.isEmpty && wasRunUnseen ? .arguable : isOver)
            }
        }
        return ruling
    }
}
