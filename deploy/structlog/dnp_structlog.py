# SPDX-License-Identifier: Apache-2.0
"""structlog that writes the plugin's events as JSON to the socket of 50-dnp-telemetry-structlog.conf.

    import dnp_structlog
    log = dnp_structlog.configure()
    log.info("prefetch_success", id="notif-123", ttl=86400, fetchDurationMs=1200, scheduledFor="2025-11-15T05:53:00Z")

The first argument is the kind of the event, the others are its fields. An event that a device stamped keeps its
`timestamp`, others get the time of the call. Needs structlog 21.2 or later.
"""

import logging
import logging.handlers

import structlog

SOCKET = "/run/dnp-structlog.sock"

now = structlog.processors.TimeStamper(fmt="iso")


def stamp(logger, method, event):
    """A processor that keeps the time that a device gave."""
    return event if "timestamp" in event else now(logger, method, event)


def configure(address=SOCKET, name="dnp"):
    """Configures structlog and returns a logger; log lines of `logging.getLogger(name)` go the same way as they are."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    # Connects again after a restart of rsyslogd; what is logged while it is away is lost, with a word on standard error.
    logger.addHandler(logging.handlers.SysLogHandler(address))
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            stamp,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    return structlog.get_logger(name)
