#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks that one prefetch cycle of a device log has all seven steps, in order: validate-ios-logs.sh [LOG]
#
# Reads standard input where no log is named and it is a pipe or a file, else device.log, as in
#   grep -E "\[DNP-(FETCH|SCHEDULER|PLUGIN)\]" device.log | ./validate-ios-logs.sh
#
# Exit status: 0 all steps, in order; 1 not; 2 the log cannot be read. What else is wrong with the log is told on
# standard error and does not change the status: dnp-telemetry validate judges it.
set -eu

if [ $# -gt 0 ]; then
    LOG=$1
elif [ -t 0 ]; then
    LOG=device.log
else
    LOG=-
fi

status=0
result=$(dnp-telemetry validate "$LOG" --app dnp --sequence --format json) || status=$?
if [ "$status" -gt 1 ]; then exit 2; fi
if printf '%s\n' "$result" | grep -q '"name":"--sequence","passed":true'; then
    echo "✅ Log sequence validated: All steps present"
    if [ "$status" = 1 ]; then echo "The steps are there, and the log breaks a rule: dnp-telemetry validate shows it." >&2; fi
    exit 0
fi
echo "❌ Log sequence incomplete: Missing steps"
printf '%s\n' "$result" | sed -n 's/.*"name":"--sequence".*"unmet":\[\([^]]*\)\].*/\1/p' | tr -d '"' |
    sed 's/,\(missing:\|out of order:\)/\n\1/g' | sed 's/^/  /' >&2
exit 1
