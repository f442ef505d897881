#!/bin/sh
# The agent of the crash loop for workspaces. It fails if it does not find what its task must begin with: nothing of its
# own, the result of the task before, and what `setup` left. Its effects are lines as those of agent.sh.
effect() {
  printf '%s %s %s %s %s %s %s\n' "$1" "$NIGHTSHIFT_ROLE" "$NIGHTSHIFT_TASK" "$NIGHTSHIFT_ROW" "$NIGHTSHIFT_ATTEMPT" "$NIGHTSHIFT_KEY" "$$" >>"$NIGHTSHIFT_SHIFT_DIR/../effects.log"
}

kind=${NIGHTSHIFT_ITEM#*\"kind\":\"}
kind=${kind%%\"*}
own=$NIGHTSHIFT_TASK-$NIGHTSHIFT_ROW.txt

fail() {
  echo "{\"overall_status\": \"FAILED (step 1)\", \"error\": \"$1\"}"
  exit 0
}

effect start
case $NIGHTSHIFT_ROLE in
  dev)
    [ ! -e "$own" ] || fail "$own is there already"
    [ -s .setup ] || fail 'setup did not run'
    [ "$NIGHTSHIFT_TASK" = make ] || [ -s "make-$NIGHTSHIFT_ROW.txt" ] || fail 'the result of make is lost'
    echo "$NIGHTSHIFT_TASK $NIGHTSHIFT_ROW" >"$own"
    if [ "$kind" = commits ]; then
      git add -A && git -c user.name=Agent -c user.email=agent@example.org commit -qm "$NIGHTSHIFT_TASK" || fail 'no commit'
    fi
    [ "$NIGHTSHIFT_TASK$kind" = polishclash ] && echo "$NIGHTSHIFT_ROW" >shared.txt
    [ "$NIGHTSHIFT_TASK$kind" = polishrefused ] && echo no >forbidden.txt
    sleep "0.$((NIGHTSHIFT_ROW % 3))"
    effect end
    echo '{"overall_status": "SUCCESS", "recommendations": "None"}'
    ;;
  qa)
    effect end
    echo '{"overall_status": "PASS", "criteria": [{"criterion": "It reads well", "status": "PASS", "reason": "read"}]}'
    ;;
esac
