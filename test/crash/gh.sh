#!/bin/sh
# A `gh` that keeps its pull requests in a file: one line for each, `number branch`. Like the real one it does not look
# whether a branch has one already, and takes a moment before and after.
command=$2
while [ $# -gt 0 ]; do
  [ "$1" = --head ] && head=$2
  shift
done
case $command in
  list)
    awk -v head="$head" '
      $2 == head { all = all (all == "" ? "" : ",") "{\"number\":" $1 ",\"url\":\"https://forge.example/pull/" $1 "\",\"state\":\"OPEN\"}" }
      END { print "[" all "]" }' "$GH_STATE"
    ;;
  create)
    cat >/dev/null
    sleep 0.05
    number=$$
    echo "$number $head" >>"$GH_STATE"
    sleep 0.1
    echo "https://forge.example/pull/$number"
    ;;
esac
