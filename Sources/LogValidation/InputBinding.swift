// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Binds the lines of inputs to the cycles of their devices: the step between reading and folding, on a thread of its own.
///
/// Lines that come newest first are turned around, for which the whole input is kept, or the next 64 MiB of it.
struct InputBinding {
    private static let mostHeldBytes = 64 << 20

    private let options: LogDecoderOptions
    private let pseudonyms: EphemeralPseudonyms
    /// Whether lines must be bound as they come.
    private let isLive: Bool
    /// The binder of the current device.
    private var binder: LogBinder
    /// The current device, where there are several.
    private var source: Pseudonym?
    /// Whether lines of the current device were bound.
    private var hasBound = false
    /// The last input that has ended.
    private var lastInput: Int?

    /// The order of the lines of the current input.
    private var order = LineOrder()
    /// Whether it is known that they come oldest first.
    private var isOldestFirst = false
    /// The pieces that wait for their order, or for those before them.
    private var held: [ParsedLog] = []
    private var heldBytes = 0
    /// Whether the last lines were turned around.
    private var isTurned = false

    init(_ options: LogDecoderOptions, _ pseudonyms: EphemeralPseudonyms, isLive: Bool = false) {
        self.options = options
        self.pseudonyms = pseudonyms
        self.isLive = isLive
        binder = LogBinder(options, pseudonyms: pseudonyms, identityKey: pseudonyms.identityKey)
    }

    /// Binds a piece of an input.
    ///
    /// - Parameter emit: is called with what comes of it, in order.
    mutating func bind(
        _ piece: InputPiece,
        input: Int,
        readAt: Timestamp,
        emit: (_ piece: BoundPiece, _ input: Int) -> Void
    ) {
        switch piece {
        case .device(let source):
            finish(readAt: readAt, emit: emit)
            self.source = source
            var options = options
            options.source = source
            binder = LogBinder(options, pseudonyms: pseudonyms, identityKey: pseudonyms.identityKey)
            hasBound = false
            emit(.device(source), input)
        case .lines(let parsed):
            let installation = assignInstallation(to: parsed)
            if let installation { emit(.installation(installation), input) }
            hold(parsed)
            if !mustWait { release(readAt: readAt) { emit(.events($0), input) } }
        case .events(let decoded): emit(.events(decoded), input)
        case .end(let judged):
            release(readAt: readAt) { emit(.events($0), input) }
            order = LineOrder()
            isOldestFirst = false
            lastInput = input
            binder.beginPart()
            emit(.end(judged), input)
        }
    }

    /// Emits the events that waited for more lines of the device.
    mutating func finish(readAt: Timestamp, emit: (_ piece: BoundPiece, _ input: Int) -> Void) {
        guard let lastInput else { return }
        let decoded = binder.flush(readAt: readAt)
        emit(.events(inTheirOrder(decoded)), lastInput)
    }

    /// Takes the lines of a device for those of the one installation of the events among the first of them: a file is one
    /// device.
    ///
    /// - Returns: the installation, where it has a name.
    private mutating func assignInstallation(to parsed: ParsedLog) -> Pseudonym? {
        guard !hasBound, parsed.hasMessages else { return nil }
        hasBound = true
        guard let installation = parsed.installationOfEvents(orNone: source) else { return nil }
        binder.assignSource(installation)
        return installation
    }

    private mutating func hold(_ parsed: ParsedLog) {
        held.append(parsed)
        guard !isLive, !isOldestFirst else { return }
        heldBytes += parsed.byteCount
        order.add(parsed)
        isOldestFirst = order.isKnown && !order.isNewestFirst
    }

    /// Whether what is held may have to be turned around together with what comes.
    private var mustWait: Bool {
        !isLive && !isOldestFirst && heldBytes < Self.mostHeldBytes && held.contains(where: \.hasMessages)
    }

    /// Binds what is held, from the oldest line on.
    private mutating func release(readAt: Timestamp, emit: (DecodedEvents) -> Void) {
        isTurned = order.isNewestFirst
        for parsed in isTurned ? held.reversed() : held {
            // Not as an argument: the binder, which is large, would be copied for the call before it is changed.
            let decoded = binder.bind(isTurned ? parsed.turnedAround() : parsed, readAt: readAt)
            emit(inTheirOrder(decoded))
        }
        held.removeAll(keepingCapacity: true)
        heldBytes = 0
    }

    /// The events with places that sort in the order of their lines: those of lines that were turned around are negative.
    private func inTheirOrder(_ decoded: DecodedEvents) -> DecodedEvents {
        guard isTurned else { return decoded }
        var turned = decoded
        turned.turnPlaces()
        return turned
    }
}

/// A piece of an input as it is read.
enum InputPiece: Sendable {
    /// The inputs of a device follow; it has a pseudonym where there are several devices.
    case device(Pseudonym?)
    case lines(ParsedLog)
    case events(DecodedEvents)
    /// The end of the input.
    case end(JudgedInput)
}

/// A piece of an input whose lines are bound to cycles.
enum BoundPiece: Sendable {
    /// The inputs of a device follow; it has a pseudonym where there are several devices.
    case device(Pseudonym?)
    /// The device of the lines that follow is that of the events among them.
    case installation(Pseudonym)
    case events(DecodedEvents)
    /// The end of the input.
    case end(JudgedInput)
}
