#!/bin/sh
# The agent of the crash loop: quick, and all that it does can be counted afterwards. Every line of .nightshift/effects.log is
#   start|end role task row attempt key pid
# What it does depends on the item's kind: `retry` succeeds at the second attempt, `bad` never, `unfit` does not pass qa,
# `stray` leaves a process in a session of its own, which outlives the agent and its group.
effect() {
  printf '%s %s %s %s %s %s %s\n' "$1" "$NIGHTSHIFT_ROLE" "$NIGHTSHIFT_TASK" "$NIGHTSHIFT_ROW" "$NIGHTSHIFT_ATTEMPT" "$NIGHTSHIFT_KEY" "$$" >>"$NIGHTSHIFT_SHIFT_DIR/../effects.log"
}

kind=${NIGHTSHIFT_ITEM#*\"kind\":\"}
kind=${kind%%\"*}

case $NIGHTSHIFT_ROLE in
  dev)
    effect start
    if [ "$kind" = stray ]; then STRAY=1 setsid sleep 300 </dev/null >/dev/null 2>&1 & fi
    # Ends with its group, and by itself not before the test.
    sleep 300 </dev/null >/dev/null 2>&1 &
    sleep "0.$((NIGHTSHIFT_ROW % 4))"
    if [ "$kind" = bad ]; then
      echo '{"overall_status": "FAILED (step 1)", "error": "it can not be done"}'
      exit 0
    fi
    # Without the file the check of the engine fails the attempt.
    [ "$kind" = retry ] && [ "$NIGHTSHIFT_ATTEMPT" = 1 ] || echo "$NIGHTSHIFT_KEY" >"out/$NIGHTSHIFT_TASK-$NIGHTSHIFT_ROW"
    echo "token_$NIGHTSHIFT_TASK=by-$$" >>"$NIGHTSHIFT_OUTPUT"
    recommendations='"None"'
    case $NIGHTSHIFT_ROW in
      3) lesson='Keep the paper dry for' ;;
      6) lesson='Wipe glass with a soft cloth and then' ;;
      9) lesson='Sand old timber along its grain for' ;;
      12) lesson='The copper parts need gloves during' ;;
      15) lesson='Fold the velvet loosely while you' ;;
      18) lesson='Lift the marble with both hands to' ;;
      *) lesson='' ;;
    esac
    [ "$lesson" ] && recommendations="[\"$lesson $NIGHTSHIFT_TASK\"]"
    effect end
    echo "{\"overall_status\": \"SUCCESS\", \"recommendations\": $recommendations}"
    ;;
  qa)
    effect start
    status=PASS
    [ "$kind" = unfit ] && status=FAIL
    effect end
    echo "{\"overall_status\": \"$status\", \"criteria\": [{\"criterion\": \"It reads well\", \"status\": \"$status\", \"reason\": \"read\"}]}"
    ;;
  manager)
    # Each recommendation is a lesson of its own.
    awk '
      /^\{"number":/ {
        text = $0; sub(/^.*"text":"/, "", text); sub(/"\}$/, "", text)
        lesson = "{\"text\": \"" text "\", \"from\": [" ++count "], \"same_as\": null, \"after\": null}"
        lessons = lessons (lessons == "" ? "" : ", ") lesson
      }
      END { print "{\"lessons\": [" lessons "], \"summary\": \"as recommended\"}" }'
    ;;
esac
