# SPDX-License-Identifier: Apache-2.0
# Functions for run, stages and memory; sourced by bash. The caller must set $out, a directory, first.
# shellcheck shell=bash
PATH="$PATH:/usr/sbin:/sbin"
pids=()

stop_all() {
    local pid
    for pid in "${pids[@]}"; do
        kill -TERM "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    pids=()
}
trap stop_all EXIT

# free_ports COUNT: prints ports on which no process listens.
free_ports() {
    python3 -c 'import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(s.getsockname()[1] for s in held))' "$1"
}

ask() {
    curl --silent --show-error --max-time 60 --cacert "${out:?a caller sets it}/certs/ca.crt" "$@"
}

# wait_for PID PORT NAME: waits until the port answers; up to 120 s, since valgrind and thousands of signatures take time.
wait_for() {
    for _ in $(seq 1200); do
        kill -0 "$1" 2>/dev/null || break
        (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && return 0
        sleep 0.1
    done
    echo "bench: $3 did not start, see $out/$3.log" >&2
    exit 1
}

# start_gate SANDGATE PORT [WRAPPER...]: starts the gate on core 0 and waits until it answers `ready` to a review.
# Sets $gate and writes answer.json.
start_gate() {
    local sandgate=$1 port=$2
    shift 2
    taskset -c 0 "$@" "$sandgate" serve --config "$out/gate.yaml" >"$out/gate.log" 2>&1 &
    gate=$!
    pids+=("$gate")
    wait_for "$gate" "$port" gate
    for _ in $(seq 600); do
        ask --fail --output /dev/null "https://127.0.0.1:$port/readyz" 2>/dev/null && break
        sleep 0.1
    done
    ask -H 'Content-Type: application/json' -H 'Accept: application/json, */*' --data-binary "@$BENCH_BODY" \
        --output "$out/answer.json" "https://127.0.0.1:$port/validate?timeout=10s"
    if ! grep -q '"outcome":"ready"' "$out/answer.json"; then
        echo "bench: the gate does not answer ready:" >&2
        cat "$out/answer.json" >&2
        exit 1
    fi
}

# measure PORT CONNECTIONS DELAY_MS SECONDS: prints "requests-per-second p50 p99 bad"; times in microseconds.
measure() {
    BENCH_DELAY_MS=$3 taskset -c 1 wrk -t1 -c"$2" -d"${4}s" -s tests/bench/post.lua \
        "https://127.0.0.1:$1/validate?timeout=10s" | sed -n 's/^RESULT //p'
}
