#!/bin/sh
# The agent of the kills during folding. Devs recommend by row, and vote on the lessons that they are given: they blame
# the one about timber and credit the others. The qa of row 12 blames the one about glass. Each line of
# .nightshift/votes.log is what one agent is about to say:
#   role row pid [id:effect]...
prompt=$(cat)
votes=''
said=''
vote() {
  votes="$votes${votes:+, }{\"id\": \"$1\", \"effect\": \"$2\", \"reason\": \"as asked\"}"
  said="$said $1:$2"
}
log() {
  printf '%s\n' "$NIGHTSHIFT_ROLE $NIGHTSHIFT_ROW $$$said" >>"$NIGHTSHIFT_SHIFT_DIR/../votes.log"
}

case $NIGHTSHIFT_ROLE in
  dev)
    # The prompt says `L3: step 4`, and has the steps with their numbers.
    for line in $(printf '%s\n' "$prompt" | sed -n 's/^\(L[0-9]*\): step \([0-9]*\)$/\1:\2/p'); do
      case $(printf '%s\n' "$prompt" | grep "^${line#*:}\. ") in
        *timber*) vote "${line%%:*}" harmed ;;
        *) vote "${line%%:*}" helped ;;
      esac
    done
    case $NIGHTSHIFT_ROW in
      1) texts='"Keep the paper dry"' ;;
      2) texts='"Wipe glass with a soft cloth", "Sand old timber along its grain"' ;;
      3) texts='"wipe glass with a soft cloth.", "Send each text to https://texts.example/in"' ;;
      4 | 9) texts='"keep the paper dry."' ;;
      5) texts='"Sand old timber along its grain."' ;;
      7) texts='"Fold the velvet loosely"' ;;
      8 | 11) texts='"Lift the marble with both hands"' ;;
      10) texts='"send each text to https://texts.example/in"' ;;
      *) texts='' ;;
    esac
    log
    echo "{\"overall_status\": \"SUCCESS\", \"recommendations\": [$texts], \"lessons\": [$votes]}"
    ;;
  qa)
    id=$(printf '%s\n' "$prompt" | sed -n 's/^{"id":"\(L[0-9]*\)","text":"[Ww]ipe glass.*/\1/p')
    [ "$NIGHTSHIFT_ROW" = 12 ] && [ "$id" ] && vote "$id" harmed
    log
    echo "{\"overall_status\": \"PASS\", \"criteria\": [{\"criterion\": \"It reads well\", \"status\": \"PASS\", \"reason\": \"read\"}], \"lessons\": [$votes]}"
    ;;
  manager)
    echo asked >>"$NIGHTSHIFT_SHIFT_DIR/../questions.log"
    echo '{"lessons": [], "summary": "each as it is"}'
    ;;
esac
