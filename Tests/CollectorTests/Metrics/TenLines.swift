// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Hummingbird
import MetricsRegistry
import RuntimeMetrics

func application(port: Int) -> some ApplicationProtocol {
    let registry = MetricsRegistry()
    MetricsSystem.bootstrap(RegistryMetricsFactory(registry))
    ProcessCollector.add(to: registry)
    SwiftRuntimeCollector.add(to: registry)
    let router = Router()
    router.add(middleware: MetricsMiddleware())
    router.get("/metrics") { request, _ in
        let format = ExpositionFormat.negotiated(accept: request.headers[.accept])
        let page = ByteBuffer(bytes: await registry.page(format))
        return Response(status: .ok, headers: [.contentType: format.contentType], body: .init(byteBuffer: page))
    }
    router.get("/") { _, _ in "Hello" }
    return Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
}
