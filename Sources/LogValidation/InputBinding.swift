// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Binds the lines of inputs to the cycles of their devices: the step between reading and folding, on a thread of its own.
struct InputBinding {
    private let options: LogDecoderOptions
    private let pseudonyms: EphemeralPseudonyms
    /// The binder of the current device.
    private var binder: LogBinder
    /// The current device, where there are several.
    private var source: Pseudonym?
    /// Whether lines of the current device were bound.
    private var hasBound = false
    /// The last input that has ended.
    private var lastInput: Int?

    init(_ options: LogDecoderOptions, _ pseudonyms: EphemeralPseudonyms) {
        self.options = options
        self.pseudonyms = pseudonyms
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
            if !hasBound, parsed.hasMessages, let installation = assignInstallation(to: parsed) {
                emit(.installation(installation), input)
            }
            emit(.events(binder.bind(parsed, readAt: readAt)), input)
        case .events(let decoded): emit(.events(decoded), input)
        case .end(let judged):
            lastInput = input
            binder.beginPart()
            emit(.end(judged), input)
        }
    }

    /// Emits the events that waited for more lines of the device.
    mutating func finish(readAt: Timestamp, emit: (_ piece: BoundPiece, _ input: Int) -> Void) {
        if let lastInput { emit(.events(binder.flush(readAt: readAt)), lastInput) }
    }

    /// Takes the lines of a device for those of the one installation of the events among the first of them: a file is one
    /// device.
    ///
    /// - Returns: the installation, where it has a name.
    private mutating func assignInstallation(to parsed: ParsedLog) -> Pseudonym? {
        hasBound = true
        guard let installation = parsed.installationOfEvents(orNone: source) else { return nil }
        binder.assignSource(installation)
        return installation
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
