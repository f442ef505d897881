#!/bin/sh
# The agent of the learning benchmark: hands its prompt to the host (../learning/host.ts) and prints the report that
# comes back. Node would take ten times as long to start.
#   world-agent.sh FOLDER   where the host waits
set -eu
call=$1/$$
cat > "$call.prompt"
mkfifo "$call.report"
# Open for both, so that neither side waits for the other to open it.
exec 3<> "$call.report"
printf '%s %s %s %s\n' "$$" "$NIGHTSHIFT_ROLE" "${NIGHTSHIFT_ROW:-0}" "${NIGHTSHIFT_ATTEMPT:-0}" > "$1/calls"
IFS= read -r report <&3
printf '%s\n' "$report"
