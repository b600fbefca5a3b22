#!/bin/sh
# An agent over NATS in a shell, with the NATS CLI (https://github.com/nats-io/natscli, 0.2.4 or later). It opens a run,
# then calls one tool twice: by request, and by publish.
#
#   sh examples/agents/nats.sh payments.refund.create \
#     '{"order_id":"ord_1","amount_cents":2499}' '{"order_id":"ord_2","amount_cents":990}'
#
# Environment: NATS_URL, INTENDANT_TENANT and INTENDANT_SERVICE_KEY of the runtime. Keys and tokens are arguments of
# commands here, which other users of this machine can see.
set -eu
if [ $# -lt 2 ]; then
  echo "usage: nats.sh <tool> <arguments as JSON> [<arguments of the second call>]" >&2
  exit 2
fi
tool=$1 first=$2 second=${3:-$2}
: "${NATS_URL:?}" "${INTENDANT_TENANT:?}" "${INTENDANT_SERVICE_KEY:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Asks until there is an answer that says something: `nats request` prints none, and ends well, where nobody answered.
# To send the same step again is always safe: it takes effect once at most.
ask() { # subject, message, credential
  tries=0
  while [ "$tries" -lt 60 ]; do
    answer=$(nats --timeout=6s request "$1" "$2" --raw --no-templates \
      -H "Authorization:Bearer $3" -H Intendant-Wait:3s) || answer=
    case $answer in
      *'"intentId"'*) printf '%s\n' "$answer" && return ;;
      '' | *'"code":"unavailable"'* | *'"code":"internal"'*) ;;
      *) printf '%s\n' "$answer" && return ;;
    esac
    tries=$((tries + 1))
    echo "no answer on $1; asking again" >&2
    sleep 1
  done
  return 1
}
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

opened=$(ask intendant.rpc.open_run '{"user":"ada","permissions":["*"],"profile":"interactive","budgets":{"destructive":2}}' \
  "$INTENDANT_SERVICE_KEY")
run=$(printf '%s\n' "$opened" | field runId)
token=$(printf '%s\n' "$opened" | field token)
if [ -z "$token" ]; then
  printf '%s\n' "$opened" >&2
  exit 1
fi

# The same stepId whenever the same call is made again, and another one for another call.
echo "by request: $(ask intendant.rpc.submit "{\"tool\":\"$tool\",\"args\":$first,\"stepId\":\"s1\"}" "$token")"

# News of the run, the next one that comes: events may be missed. `nats sub` says on stderr that it listens.
nats sub "intendant.events.$INTENDANT_TENANT.$run.>" --count=1 --wait=3s >"$work/events" 2>"$work/log" &
until grep -q Subscribing "$work/log"; do
  kill -0 $!
  sleep 1
done
call="{\"tool\":\"$tool\",\"args\":$second,\"stepId\":\"s2\"}"
# With --jetstream it ends well only when the message is stored; it is admitted even if all services are down now.
for _ in 1 2 3 4 5; do
  nats pub "intendant.intents.$INTENDANT_TENANT" "$call" --jetstream --no-templates -H "Authorization:Bearer $token" && break
  sleep 1
done
wait $!
echo "event: $(grep '^{' "$work/events" || echo none)"
# The same step once more: how it stands now, or why it was never admitted.
echo "by publish: $(ask intendant.rpc.submit "$call" "$token")"
