#!/usr/bin/env bash
source "$(dirname "$0")/lib.sh"
. ./lib.sh

run() {
  local name=$1
  log "$default_level" "running ${name}"
  [ -n "$name" ] || fail "no name"
}

for item in a b; do
  run "$item"
done
