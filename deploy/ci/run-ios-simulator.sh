#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs one prefetch on an iOS simulator and collects its log: run-ios-simulator.sh App.app [DIRECTORY]
#
# Boots a simulator of its own, installs and launches the app, schedules a notification, puts the app into the background,
# fires the background task through LLDB, and waits for the notification. DIRECTORY (device-log) then has device.ndjson,
# for judge-log.sh. The simulator is deleted at the end, also after an error or an interruption.
#
# Needs macOS with Xcode 15 or later; plain sh, because macOS has an old bash. Settings, from the environment:
#   DEVICE, RUNTIME   device type (iPhone 15) and runtime (the newest) of the simulator, as simctl list names them
#   BUNDLE_ID         the app's identifier; by default that of its Info.plist
#   LAUNCH_ARGUMENTS  arguments of the app, split at spaces
#   SCHEDULE          command that makes the app schedule, run by sh with UDID and BUNDLE_ID in its environment, such as
#                     xcrun simctl openurl "$UDID" "myapp://schedule?minutes=10", or a UI test with xcodebuild; without
#                     it the app has to schedule by itself, for example by one of its arguments
#   TASK              identifier of the background task (com.timesafari.dailynotification.fetch)
#   BOOT_SECONDS, SCHEDULE_SECONDS, TASK_SECONDS, NOTIFY_SECONDS   how long to wait for each (300, 60, 60, 900)
#
# Exit status: 0 the log is collected (whether it is good says judge-log.sh), 2 something could not run.
set -eu

APP=${1:?"expected the app: run-ios-simulator.sh App.app [DIRECTORY]"}
DIRECTORY=${2:-device-log}
DEVICE=${DEVICE:-iPhone 15}
RUNTIME=${RUNTIME:-}
TASK=${TASK:-com.timesafari.dailynotification.fetch}
POLL_SECONDS=${POLL_SECONDS:-1}
LOG=$DIRECTORY/device.ndjson
PREDICATE='subsystem == "com.timesafari.dailynotification" OR eventMessage CONTAINS "[DNP-"'
UDID=
stream=

say() { echo "run-ios-simulator: $*" >&2; }
fail() {
    say "$*"
    exit 2
}

clean() {
    trap '' INT TERM HUP
    if [ -n "$stream" ]; then kill "$stream" 2>/dev/null || true; fi
    if [ -n "$UDID" ]; then
        xcrun simctl shutdown "$UDID" >/dev/null 2>&1 || true
        xcrun simctl delete "$UDID" >/dev/null 2>&1 || say "the simulator $UDID could not be deleted"
    fi
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# limited SECONDS COMMAND...: ends the command after that time; macOS has no timeout(1).
limited() {
    deadline=$(($(date +%s) + $1))
    shift
    "$@" &
    while kill -0 $! 2>/dev/null; do
        if [ "$(date +%s)" -ge "$deadline" ]; then
            kill $! 2>/dev/null || true
            return 124
        fi
        sleep "$POLL_SECONDS"
    done
    wait $!
}

# appears SECONDS PATTERN WHAT: waits for a line of the log; what is missing is for the judgement to say.
appears() {
    deadline=$(($(date +%s) + $1))
    while ! grep -Eq "$2" "$LOG"; do
        if [ "$(date +%s)" -ge "$deadline" ]; then
            say "waited $1 s for $3; the log has no such line"
            return 0
        fi
        sleep "$POLL_SECONDS"
    done
}

command -v xcrun >/dev/null || fail "xcrun is missing: this needs macOS with Xcode"
[ -d "$APP" ] || fail "expected an app built for the simulator, found nothing at $APP"
BUNDLE_ID=${BUNDLE_ID:-$(plutil -extract CFBundleIdentifier raw "$APP/Info.plist")} ||
    fail "$APP/Info.plist names no CFBundleIdentifier; set BUNDLE_ID"
mkdir -p "$DIRECTORY"
export BUNDLE_ID

# A simulator of its own: nothing that is pending in another one, no other run beside this one.
# shellcheck disable=SC2086 # without a runtime simctl takes the newest
UDID=$(xcrun simctl create "dnp-telemetry $$" "$DEVICE" ${RUNTIME:+"$RUNTIME"}) ||
    fail "no simulator of the type $DEVICE ${RUNTIME:+with $RUNTIME}: xcrun simctl list devicetypes runtimes"
export UDID
xcrun simctl boot "$UDID" || fail "the simulator $UDID does not boot"
limited "${BOOT_SECONDS:-300}" xcrun simctl bootstatus "$UDID" -b >/dev/null ||
    fail "the simulator $UDID was not ready in ${BOOT_SECONDS:-300} s"

# The stream begins before the app, and says so with its first line. log show alone would not do: a simulator keeps no
# info and debug messages.
xcrun simctl spawn "$UDID" log stream --style ndjson --level debug --predicate "$PREDICATE" >"$LOG" &
stream=$!
appears 30 . "the log stream"
[ -s "$LOG" ] || fail "log stream printed nothing in 30 s"

xcrun simctl install "$UDID" "$APP" || fail "$APP cannot be installed; is it built for the simulator?"
# shellcheck disable=SC2086
limited 120 xcrun simctl launch "$UDID" "$BUNDLE_ID" ${LAUNCH_ARGUMENTS:-} >"$DIRECTORY/launch.txt" ||
    fail "$BUNDLE_ID does not launch: $(cat "$DIRECTORY/launch.txt")"
pid=$(sed -n "s/^$BUNDLE_ID: \([0-9][0-9]*\)\$/\1/p" "$DIRECTORY/launch.txt")
[ -n "$pid" ] || fail "expected the process id of $BUNDLE_ID, simctl said: $(cat "$DIRECTORY/launch.txt")"

if [ -n "${SCHEDULE:-}" ]; then
    sh -c "$SCHEDULE" || fail "the command that schedules failed with status $?: $SCHEDULE"
fi
# On a simulator the submission may fail with BGTaskSchedulerErrorDomain Code=1; the task can be fired all the same.
appears "${SCHEDULE_SECONDS:-60}" 'BGAppRefreshTask scheduled|Prefetch scheduled|Failed to schedule BGAppRefreshTask' \
    "the prefetch to be scheduled"

# Another app in front puts this one into the background.
xcrun simctl launch "$UDID" com.apple.Preferences >/dev/null || say "the app stays in the foreground"

# LLDB's exit status says nothing about expressions.
limited 120 xcrun lldb --batch -p "$pid" \
    -o "expression -l objc -O -- (void)[[BGTaskScheduler sharedScheduler] _simulateLaunchForTaskWithIdentifier:@\"$TASK\"]" \
    -o detach >"$DIRECTORY/lldb.txt" 2>&1 || fail "lldb cannot attach to $BUNDLE_ID ($pid): $(cat "$DIRECTORY/lldb.txt")"
if grep -q '^error:' "$DIRECTORY/lldb.txt"; then
    fail "the background task $TASK cannot be fired: $(grep '^error:' "$DIRECTORY/lldb.txt")"
fi
appears "${TASK_SECONDS:-60}" 'Task completed|Task marked complete|Task completionBlock|Task expired' "the task to end"
appears "${NOTIFY_SECONDS:-900}" 'Notification delivered|Notification scheduled/delivered' "the notification"

if kill -0 "$stream" 2>/dev/null; then
    kill "$stream" 2>/dev/null || true
    wait "$stream" 2>/dev/null || true
    stream=
else
    # A stream that ended by itself has a part of the log only.
    stream=
    say "the log stream ended early; taking what log show has"
    cp "$LOG" "$DIRECTORY/stream.ndjson"
    xcrun simctl spawn "$UDID" log show --style ndjson --info --debug --last 1h --predicate "$PREDICATE" >"$LOG" ||
        fail "log show failed; what the stream had is in $DIRECTORY/stream.ndjson"
fi
say "the log is in $LOG ($(wc -l <"$LOG" | tr -d ' ') lines)"
