#!/bin/sh
# Installs what is missing on Debian or Ubuntu, and nothing that is there already.
#
#   install-deps.sh demo [mysql|mariadb]    what the demonstration needs; without an engine, MySQL where it can be
#                                           had, else MariaDB
#   install-deps.sh test                    what the tests need: every server the sandbox can start, the drivers of
#                                           tests/drivers, and valgrind, which counts instructions
#   install-deps.sh prove                   what the checker needs: a server of each family, and the library that sets
#                                           the clock of a program
#   install-deps.sh bench [mysql|mariadb]   what measuring needs: HAProxy, and the servers; without an engine, MariaDB
#
# Rust is expected to be there. Everything else comes from the machine's own apt sources; MySQL is unpacked into a
# cache beside the system, which it leaves as it is.
set -eu
cd "$(dirname "$0")/.."

say() { echo "install-deps: $*" >&2; }

# apt_install PACKAGE...: installs with apt-get, as root or through sudo.
apt_install() {
    if [ "$(id -u)" -eq 0 ]; then sudo=; else sudo=sudo; fi
    export DEBIAN_FRONTEND=noninteractive
    say "apt-get install $*"
    # The package lists may be missing or too old: fetch them only then.
    $sudo apt-get install -q -y --no-install-recommends "$@" >/dev/null 2>&1 ||
        { $sudo apt-get update -q >/dev/null && $sudo apt-get install -q -y --no-install-recommends "$@" >/dev/null; }
}

# need PROGRAM PACKAGE: notes the package if the program is not there.
missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }

command -v cargo >/dev/null 2>&1 || { say "cargo is not on the path: install Rust first"; exit 1; }
command -v apt-get >/dev/null 2>&1 || { say "this machine has no apt-get: install gcc, openssl and a server yourself"; exit 1; }
need cc gcc
need c++ g++
need openssl openssl
# shellcheck disable=SC2086 # a list of names
[ -z "$missing" ] || apt_install $missing
missing=

# The servers are fetched once; each is named when it is there.
sandbox_install() { cargo run --locked --quiet -p sandbox --example install -- "$@"; }

# The drivers go beside what cargo builds, and are installed again when what names them has changed.
install_drivers() {
    need python3 python3
    need pkg-config pkg-config
    need node nodejs
    need npm npm
    need go golang-go
    need php php-cli
    need perl perl
    need javac default-jdk-headless
    php -m 2>/dev/null | grep -qx mysqli || missing="$missing php-mysql"
    perl -MDBD::mysql -e 1 2>/dev/null || missing="$missing libdbd-mysql-perl"
    perl -MDBD::MariaDB -e 1 2>/dev/null || missing="$missing libdbd-mariadb-perl"
    [ -e /usr/share/java/mariadb-java-client.jar ] || missing="$missing libmariadb-java"
    [ -e /usr/include/mariadb/mysql.h ] || missing="$missing libmariadb-dev"
    [ -d /usr/share/gocode/src/github.com/go-sql-driver/mysql ] ||
        missing="$missing golang-github-go-sql-driver-mysql-dev"
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
    [ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h" ] ||
        missing="$missing python3-dev"
    # shellcheck disable=SC2086 # a list of names
    [ -z "$missing" ] || apt_install $missing

    from=$PWD/tests/drivers
    to=$(scripts/target-dir.sh drivers)
    mkdir -p "$to/node" "$to/go" "$to/c" "$to/java"
    if ! cmp -s "$from/python/requirements.txt" "$to/python/requirements.txt"; then
        say "Python's drivers"
        python3 -m venv --clear "$to/python"
        "$to/python/bin/pip" install --quiet --disable-pip-version-check -r "$from/python/requirements.txt"
        cp "$from/python/requirements.txt" "$to/python/"
    fi
    if ! cmp -s "$from/node/package.json" "$to/node/package.json" || [ ! -d "$to/node/node_modules" ]; then
        say "Node's drivers"
        cp "$from/node/package.json" "$to/node/"
        npm install --prefix "$to/node" --silent --no-audit --no-fund --no-package-lock
    fi
    GO111MODULE=off GOPATH=/usr/share/gocode go build -o "$to/go/steps" "$from/go/steps.go"
    # shellcheck disable=SC2046 # a list of options
    [ "$to/c/steps" -nt "$from/c/steps.c" ] ||
        cc -O1 -o "$to/c/steps" "$from/c/steps.c" $(pkg-config --cflags --libs libmariadb) -pthread
    [ "$to/java/Steps.class" -nt "$from/java/Steps.java" ] || javac -encoding UTF-8 -d "$to/java" "$from/java/Steps.java"
    [ -d "$to/rust" ] || say "Rust's drivers"
    cargo build --locked --quiet --manifest-path "$from/rust/Cargo.toml" --target-dir "$to/rust"
}

case "${1:-}" in
demo)
    if [ -n "${2:-}" ]; then
        sandbox_install "$2"
    else
        sandbox_install mysql || { say "MySQL cannot be had here, taking MariaDB"; sandbox_install mariadb; }
    fi
    ;;
test)
    need valgrind valgrind
    sandbox_install
    install_drivers
    ;;
prove)
    sandbox_install mysql
    sandbox_install mariadb
    ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || apt_install libfaketime ||
        say "libfaketime cannot be had here: clocks are left alone"
    ;;
bench)
    sandbox_install "${2:-mariadb}"
    # Not on everybody's path.
    [ -x /usr/sbin/haproxy ] || command -v haproxy >/dev/null 2>&1 || apt_install haproxy
    ;;
*)
    sed -n '2,13s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
