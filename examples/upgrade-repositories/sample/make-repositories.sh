#!/bin/sh
# Makes a git repository of each folder here, as if you had cloned them.
set -e
cd "$(dirname "$0")"
for name in invoices shop reports; do
  [ -e "$name/.git" ] && continue
  echo node_modules > "$name/.gitignore"
  git init -q "$name"
  git -C "$name" add .
  git -C "$name" commit -q -m "Sample"
done
