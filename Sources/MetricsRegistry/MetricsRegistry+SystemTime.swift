// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

extension MetricsRegistry {
    /// Makes a registry that takes the time from the system's clock.
    ///
    /// - Parameters:
    ///   - limits: The sizes past which the registry stops growing.
    ///   - onConflict: Told of each registration that got a detached instrument, on the caller's thread.
    public convenience init(
        limits: RegistryLimits = RegistryLimits(),
        onConflict: @escaping @Sendable (RegistrationConflict) -> Void = { _ in }
    ) {
        self.init(now: Self.systemTime, limits: limits, onConflict: onConflict)
    }

    /// Microseconds since 1970.
    @Sendable
    private static func systemTime() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
