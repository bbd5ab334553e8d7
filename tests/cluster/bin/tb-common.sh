# Shared settings and helpers of the netns test-bed. Sourced, not run.
set -euo pipefail
TB_HERE=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
TB_NAME=${TB_NAME:-tb}                          # prefix of every netns; one cluster per name
TB_STATE=${TB_STATE:-/var/tmp/sago-cluster/$TB_NAME} # pid files, generated hosts, backing directories
TB_NET=${TB_NET:-10.77}                         # first two octets of the cluster's private /16

die()  { echo "${0##*/}: $*" >&2; exit 1; }
need() { command -v "$1" >/dev/null || die "missing command: $1 (package $2)"; }

# ns_pid HOST -> host-side pid of the process that holds HOST's namespaces
ns_pid() {
    local f=$TB_STATE/pid/$1 p
    [ -r "$f" ] && p=$(<"$f") && [ -e "/proc/$p/ns/net" ] || die "no such (or dead) host: $1"
    echo "$p"
}
hosts_of() { (cd "$TB_STATE/pid" 2>/dev/null && ls -v | grep -E "^$1[0-9]+$") || true; }

# on HOST CMD... : run CMD in every namespace of HOST (no shell in between)
on() { local p; p=$(ns_pid "$1") || exit; shift; nsenter -t "$p" -m -u -i -n -p -- "$@"; }
