#!/bin/bash
# An agent that costs money and is its own witness. $1 is the file of the witness, $2 how long a dev takes. Every line is
#   begin|end role row pid-and-time cost-in-millionths-of-a-dollar
cost=$((RANDOM % 9000 + 1000))
line="$NIGHTSHIFT_ROLE $NIGHTSHIFT_ROW $$-$EPOCHREALTIME $cost"
echo "begin $line" >>"$1"
usage="\"usage\": {\"input_tokens\": 10, \"output_tokens\": 1, \"cost_usd\": 0.00$cost}"
if [ "$NIGHTSHIFT_ROLE" = dev ]; then
  sleep "$2"
  answer='"overall_status": "SUCCESS", "recommendations": "None"'
else
  answer='"overall_status": "PASS", "criteria": [{"criterion": "It is good", "status": "PASS", "reason": "seen"}]'
fi
echo "end $line" >>"$1"
echo "{$answer, $usage}"
