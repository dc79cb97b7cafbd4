#!/usr/bin/env bash
# Things that others source.

default_level="info"

# Prints a line with its level.
log() {
  local level="$1"
  shift
  echo "[$level] $*"
}

function fail {
  log error "$@"
  exit 1
}
