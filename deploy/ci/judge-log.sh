#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Judges the log of a device or simulator for CI: judge-log.sh LOG [DIRECTORY]
#
# Prints the judgement, writes junit.xml, verdict.json and the record of the test run (run.json, run.md) into DIRECTORY
# (test-results), and adds the record to the summary of a GitHub job. Settings, from the environment:
#   REQUIRE   stages or outcomes that one cycle must have reached (used); empty for none
#   STRICT    yes: rules of bucket B fail too
#   EXCERPT   yes: the log may begin within a run, as that of adb logcat -d does
#   DEVICE, IOS_VERSION, BUILD, SCENARIO, CONDITIONS   for the record
#
# Exit status: that of dnp-telemetry validate: 0 coherent, 1 not, or no lifecycle in it, 2 the log cannot be read.
set -eu

LOG=${1:?"expected a log: judge-log.sh LOG [DIRECTORY]"}
DIRECTORY=${2:-test-results}
REQUIRE=${REQUIRE-used}
mkdir -p "$DIRECTORY"

status=0
set -- validate "$LOG" ${REQUIRE:+--require "$REQUIRE"}
if [ "${STRICT:-}" = yes ]; then set -- "$@" --strict; fi
if [ "${EXCERPT:-}" = yes ]; then set -- "$@" --excerpt; fi
dnp-telemetry "$@" --junit "$DIRECTORY/junit.xml" --explain || status=$?
dnp-telemetry "$@" --format json --quiet >"$DIRECTORY/verdict.json" || true

set -- report "$LOG" --out "$DIRECTORY/run" --force --quiet
if [ "${EXCERPT:-}" = yes ]; then set -- "$@" --excerpt; fi
if [ -n "${DEVICE:-}" ]; then set -- "$@" --device "$DEVICE"; fi
if [ -n "${IOS_VERSION:-}" ]; then set -- "$@" --ios-version "$IOS_VERSION"; fi
if [ -n "${BUILD:-}" ]; then set -- "$@" --build "$BUILD"; fi
if [ -n "${SCENARIO:-}" ]; then set -- "$@" --scenario "$SCENARIO"; fi
if [ -n "${CONDITIONS:-}" ]; then set -- "$@" --conditions "$CONDITIONS"; fi
if dnp-telemetry "$@" && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$DIRECTORY/run.md" >>"$GITHUB_STEP_SUMMARY"; fi

if [ "$status" = 1 ] && grep -q 'BGTaskSchedulerErrorDomain Code=1' "$LOG"; then
    echo "This simulator refused to schedule the task (BGTaskSchedulerErrorDomain Code=1), which is its limit and no bug." >&2
    echo "Where it was fired all the same, executed_without_scheduled follows from that; see docs/ci.md." >&2
fi
exit "$status"
