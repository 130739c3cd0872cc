// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL

extension ConnectionSecurity {
    /// TLS by the rules of the moment in which a connection is accepted.
    init(_ rules: LiveSecurityRules, _ live: LiveConfiguration, metrics: TLSMetrics) {
        self.init(scheme: rules.current.tls == nil ? "http" : "https") { channel in
            guard let terms = rules.current.tls else { return }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(PlainRequestHandler())
            try pipeline.addHandler(terms.handler())
            try pipeline.addHandler(
                HandshakeHandler(
                    allowedNames: terms.allowedNames,
                    timeout: TimeAmount(live.current.headerTimeout),
                    metrics: metrics
                )
            )
        }
    }
}

extension TLSTerms {
    fileprivate func handler() -> NIOSSLServerHandler {
        guard takesAnyCertificate else { return NIOSSLServerHandler(context: context) }
        return NIOSSLServerHandler(
            context: context,
            customVerificationCallback: { _, promise in
                promise.succeed(.certificateVerified)
            }
        )
    }
}
