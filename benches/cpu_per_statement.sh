#!/bin/bash
# CPU time of the proxy process per point select: Tidemark against HAProxy in TCP mode, in turn, on the same cluster.
#
# usage: benches/cpu_per_statement.sh [ENGINE] [ROUNDS] [SECONDS] [CONNECTIONS]     (mariadb, 5, 8, 64)
# Needs sysbench and haproxy (apt-get install sysbench haproxy) and a release build (cargo build --release).
# Prints microseconds of user + system time per statement for each round, and the ratio of each pair; quote the median.
set -eu
engine=${1:-mariadb} rounds=${2:-5} seconds=${3:-8} connections=${4:-64}
here=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$here/target}
work=$(mktemp -d)
pids=()
stop() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT INT TERM

cargo build --quiet --locked --release --manifest-path "$here/Cargo.toml" -p tidemark -p sandbox --example cluster --bin tidemark
"$target/release/examples/cluster" --engine "$engine" --replicas 2 --no-tls --until-killed >"$work/cluster" 2>&1 &
pids+=($!)
for _ in $(seq 300); do
    [ "$(grep -cE '127\.0\.0\.1:[0-9]+' "$work/cluster")" -ge 3 ] && break
    sleep 0.1
done
mapfile -t nodes < <(grep -oE '127\.0\.0\.1:[0-9]+' "$work/cluster" | awk '!seen[$0]++' | head -3)
[ "${#nodes[@]}" = 3 ] || { cat "$work/cluster" >&2; echo "the cluster did not start" >&2; exit 1; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
tidemark_port=$(free_port) haproxy_port=$(free_port)
{
    printf '[cluster]\nmonitor_user = "tidemark"\nmonitor_password = "tidemarkpw"\ntls = "disabled"\nworkers = 2\n'
    for i in 0 1 2; do printf '[[node]]\nname = "db%d"\naddress = "%s"\n' $((i + 1)) "${nodes[$i]}"; done
    printf '[[endpoint]]\nname = "app"\nlisten = "127.0.0.1:%d"\nconsistency = "session"\n' "$tidemark_port"
} >"$work/tidemark.toml"
cat >"$work/haproxy.cfg" <<EOF
global
    nbthread 2
    maxconn 4000
defaults
    mode tcp
    timeout connect 5s
    timeout client 1h
    timeout server 1h
listen reads
    bind 127.0.0.1:$haproxy_port
    server db2 ${nodes[1]}
    server db3 ${nodes[2]}
EOF
"$target/release/tidemark" run --config "$work/tidemark.toml" >"$work/tidemark.log" 2>&1 &
tidemark=$!
haproxy -f "$work/haproxy.cfg" >"$work/haproxy.log" 2>&1 &
haproxy=$!
pids+=("$tidemark" "$haproxy")
sleep 3

load() { # port command seconds
    sysbench --mysql-user=app --mysql-password=apppw --mysql-host=127.0.0.1 --mysql-port="$1" --mysql-db=sbtest \
        --mysql-ssl=off --tables=4 --table-size=10000 --threads="$connections" --time="$3" --db-ps-mode="$mode" \
        oltp_point_select "$2" 2>&1
}
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
hertz=$(getconf CLK_TCK)
measure() { # pid port -> microseconds per statement
    local before after queries
    before=$(ticks "$1")
    queries=$(load "$2" run "$seconds" | awk '/queries:/ { print $2 }')
    after=$(ticks "$1")
    awk -v t=$((after - before)) -v q="${queries:-0}" -v h="$hertz" 'BEGIN { printf "%.2f", q ? t / h * 1e6 / q : 0 }'
}
mode=disable
load "$tidemark_port" prepare 1 >/dev/null
sleep 1
for mode in disable auto; do
    echo "point select, $connections connections, prepared statements: $mode"
    for round in $(seq "$rounds"); do
        ours=$(measure "$tidemark" "$tidemark_port")
        theirs=$(measure "$haproxy" "$haproxy_port")
        awk -v r="$round" -v a="$ours" -v b="$theirs" \
            'BEGIN { printf "round %d: tidemark %s us, haproxy %s us, ratio %.2f\n", r, a, b, b ? a / b : 0 }'
    done
done
