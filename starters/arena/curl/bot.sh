#!/usr/bin/env bash
# Play Dead Man's Draw at an arena: ./bot.sh URL ID [TAG | --practice] [--insecure]; needs curl and jq.
set -uo pipefail

# Your strategy: return the action for your turn in a match. This one stops at three cards.
decide='{etype: (if (.state.playArea | length) >= 3 then "EndTurn" else "Draw" end), autopick: true}'

insecure=${ARENA_INSECURE:-0} words=()
for word in "$@"; do
  if [[ $word == --insecure ]]; then insecure=1; else words+=("$word"); fi
done
if ((${#words[@]} < 2 || ${#words[@]} > 3)) || [[ -z ${ARENA_PASSWORD:-} ]]; then
  echo './bot.sh URL ID [TAG | --practice] [--insecure]; set ARENA_PASSWORD to the password.' >&2
  exit 2
fi
base=${words[0]} player=${words[1]} entry=${words[2]:-}
matches=${base%/}/api/matches
if [[ ! $base =~ ^(https://|http://(127\.0\.0\.1|localhost)(:[0-9]+)?(/.*)?$) ]]; then
  if [[ $insecure != 1 ]]; then
    echo 'Others could read the password in transit: use https://, or --insecure in a network that you trust.' >&2
    exit 1
  fi
  echo 'Warning: others in this network can read the password.' >&2
fi
no_proxy_hosts=$([[ $base == http://* ]] && echo '*') # this machine and this network need no proxy

# ask URL [BODY]: send a request and set status and answer. Fail unless the status is 200, 409 (not
# your turn) or 410 (the match is over). curl gets the password through its configuration, because
# a command line would show it in the list of processes.
is_lost=
ask() {
  local said user="$player:$ARENA_PASSWORD"
  user=${user//\\/\\\\} user=${user//\"/\\\"}
  # A long poll takes up to 30 s. The arena delays too frequent requests by up to 10 s more.
  said=$(curl -sS --noproxy "$no_proxy_hosts" --max-time 45 --config <(printf 'user = "%s"\n' "$user") \
    -H 'Content-Type: application/json' ${2:+--data-raw "$2"} \
    -w '\n%{http_code} %header{x-slowdown-remaining}\t%header{x-arena-notice}' "$1" 2>/dev/null) || said=$'\n'"curl:$? "$'\t'
  answer=${said%$'\n'*} said=${said##*$'\n'}
  read -r status remaining <<<"${said%%$'\t'*}"
  if [[ $status == 401 ]]; then
    echo "$answer: are ID and ARENA_PASSWORD right?" >&2
    exit 1
  fi
  if [[ $status =~ ^(curl|5) ]]; then
    if [[ -z $is_lost ]]; then echo "The arena does not answer ($status). Trying again every second."; fi
    is_lost=1
    sleep 1
    return 1
  fi
  if [[ -n $is_lost ]]; then echo 'The arena answers again.'; fi
  is_lost=
  if [[ $remaining == 0 ]]; then sleep 1; fi
  if [[ ! $status =~ ^(200|409|410)$ ]]; then
    if [[ $status == 404 ]]; then seats=(); fi # a restarted arena may have lost its matches
    echo "$status $answer"
    sleep 1
    return 1
  fi
  if [[ -n ${said#*$'\t'} ]]; then echo "${said#*$'\t'}"; fi
}

# report MATCH [begins]: print that a match begins, or its result if it is over.
report() {
  local response=$answer
  ask "$matches/$1?condensed=1" || return
  jq -r --argjson seat "${seats[$1]}" --arg begins "${2:-}" '
    .playerdata[$seat] as $mine | .playerdata[1 - $seat] as $other
    | (if $mine.winner then "won" elif $other.winner then "lost" else "drawn" end) as $result
    | "Match \(.id), \(.playernames | join(" against ")): " as $title
    | if $begins != "" then $title + "begins"
      elif .finished then "\($title)\($result) \($mine.bankvalue):\($other.bankvalue)" else empty end' \
    <<<"$answer"
  if [[ -z ${2:-} && $(jq -r .finished <<<"$answer") == true ]]; then unset "seats[$1]"; fi
  answer=$response
}

declare -A seats=() # your seat, 0 or 1, in each match that runs
wish='all its matches'
if [[ -n $entry ]]; then wish="matches with the tag $entry"; fi
if [[ $entry == --practice ]]; then wish='a practice match'; fi
echo "Player $player waits for $wish at $base"
look="$matches?active=1&wait=1"
if [[ $entry == --practice ]]; then
  until ask "$matches" "{\"playerids\": [\"$player\", \"000000000000000000000000\"]}"; do :; done
  look="$matches/$(jq -r .id <<<"$answer")?waitactive=1"
elif [[ -n $entry ]]; then
  look+="&tags=$(jq -rn --arg tag "$entry" '$tag | @uri')"
fi

while true; do
  ask "$look" || continue # the next request shows whether an action without a response was applied
  now=$status
  if [[ $now != 200 ]]; then answer='[]'; fi
  # Each line is a match in which it is your turn: its id, your seat and your action.
  turns=$(jq -r --arg player "$player" "if type == \"array\" then .[] else . end
    | \"\(._id) \(.playerids | index(\$player)) \($decide | tojson)\"" <<<"$answer")
  fresh=()
  while read -r match seat _; do
    if [[ -n $match && -z ${seats[$match]:-} ]]; then fresh+=("$match $seat"); fi
  done <<<"$turns"
  if ((${#fresh[@]} || ${#turns} == 0)); then # matches that ran may be over
    for match in "${!seats[@]}"; do report "$match"; done
  fi
  if [[ $now == 410 ]]; then exit; fi
  for turn in ${fresh[@]+"${fresh[@]}"}; do
    read -r match seat <<<"$turn"
    seats[$match]=$seat
    report "$match" begins || { unset "seats[$match]"; continue 2; }
  done
  while read -r match _ action; do
    if [[ -n $match ]]; then ask "$matches/$match" "$action"; fi
  done <<<"$turns"
done
