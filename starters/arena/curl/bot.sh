#!/usr/bin/env bash
# Play Dead Man's Draw at an arena: ./bot.sh URL ID [TAG | --practice]; needs curl and jq.
set -uo pipefail

# Your strategy: return the action for your turn in a match. This one stops at three cards.
decide='{etype: (if (.state.playArea | length) >= 3 then "EndTurn" else "Draw" end), autopick: true}'

if (($# < 2 || $# > 3)) || [[ -z ${ARENA_PASSWORD:-} ]]; then
  echo './bot.sh URL ID [TAG | --practice]; set ARENA_PASSWORD to the password.' >&2
  exit 2
fi
matches=${1%/}/api/matches player=$2 entry=${3:-}
if [[ ! $1 =~ ^(https://|http://(127\.0\.0\.1|localhost)(:[0-9]+)?/?$) ]]; then
  echo 'Others could read the password in transit; use https://.' >&2
  exit 1
fi

# ask URL [BODY]: send a request and set status and answer. Fail unless the status is 200, 409 (not
# your turn) or 410 (the match is over). curl gets the password through its configuration, because
# a command line would show it in the list of processes.
ask() {
  local said user="$player:$ARENA_PASSWORD"
  user=${user//\\/\\\\} user=${user//\"/\\\"}
  # A long poll takes up to 30 s. The arena delays too frequent requests by up to 10 s more.
  said=$(curl -sS --noproxy '127.0.0.1,localhost' --max-time 45 --config <(printf 'user = "%s"\n' "$user") \
    -H 'Content-Type: application/json' ${2:+--data-raw "$2"} \
    -w '\n%{http_code} %header{x-slowdown-remaining}' "$1") || { sleep 1; return 1; }
  answer=${said%$'\n'*}
  read -r status remaining <<<"${said##*$'\n'}"
  if [[ $status == 401 ]]; then
    echo "$answer: are ID and ARENA_PASSWORD right?" >&2
    exit 1
  fi
  if [[ $remaining == 0 ]]; then sleep 1; fi
  if [[ ! $status =~ ^(200|409|410)$ ]]; then
    echo "$status $answer"
    sleep 1
    return 1
  fi
}

look="$matches?active=1&wait=1"
if [[ $entry == --practice ]]; then
  ask "$matches" "{\"playerids\": [\"$player\", \"000000000000000000000000\"]}" || exit 1
  look="$matches/$(jq -r .id <<<"$answer")?waitactive=1"
elif [[ -n $entry ]]; then
  look+="&tags=$(jq -rn --arg tag "$entry" '$tag | @uri')"
fi

while true; do
  ask "$look" || continue # the next request shows whether an action without a response was applied
  if [[ $status == 410 ]]; then
    jq -r '.state.winnerIdx as $won | if $won == null then "drawn" else ["won", "lost"][$won] end' \
      <<<"$answer"
    exit
  fi
  if [[ $status == 409 ]]; then continue; fi
  while read -r match action; do
    ask "$matches/$match" "$action"
  done < <(jq -r "if type == \"array\" then .[] else . end | ._id + \" \" + ($decide | tojson)" \
    <<<"$answer")
done
