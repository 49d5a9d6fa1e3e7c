#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Kubernetes control plane on loopback, for tests.
#
#   cluster.sh up FOLDER           starts etcd, kube-apiserver, kube-controller-manager, and kube-scheduler and kwok
#                                  for the simulated nodes, each on a free port of 127.0.0.1. Then there are
#                                  FOLDER/kubeconfig (an administrator), FOLDER/audit.log and FOLDER/PROGRAM.log.
#   cluster.sh down FOLDER         stops the programs that "up" started, by process id; keeps the files.
#   cluster.sh kill FOLDER NAME    kills one of the programs, as in a crash.
#   cluster.sh start FOLDER NAME   starts it again with the same command line, ports and data.
#
# CLUSTER_BIN     directory with the programs, as build.sh makes it (default: the PATH)
# CLUSTER_NODES   number of simulated nodes (default 1; with 0 there is no kube-scheduler and no kwok, and pods stay Pending)
# ETCD_FLAGS, APISERVER_FLAGS, CONTROLLER_FLAGS, SCHEDULER_FLAGS, KWOK_FLAGS   more flags, split at blanks
# KWOK_STAGES     the changes that kwok makes to pods and nodes (default: kwok-stages.yaml next to kwok)
# FOLDER/audit-policy.yaml is used if it exists before "up".
set -euo pipefail

[ $# -ge 2 ] || { sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2; }
verb=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
[ -z "${CLUSTER_BIN:-}" ] || PATH=$(cd "$CLUSTER_BIN" && pwd):$PATH
cd "$dir"
programs="kwok kube-scheduler kube-controller-manager kube-apiserver etcd" # the order in which they are stopped: clients first

free_ports() { # N: prints different ports; each is kept open until all are known
	python3 - "$1" <<-'P'
		import socket, sys
		held = [socket.socket() for _ in range(int(sys.argv[1]))]
		for s in held:
		    s.bind(("127.0.0.1", 0))
		print(*[s.getsockname()[1] for s in held])
	P
}
birth() { # PID: the start time of a process, which differs if the id is reused; nothing if it has ended or is a zombie
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
	local fields
	read -ra fields <<<"${stat##*) }"
	[ "${fields[0]}" = Z ] || echo "${fields[19]}"
}
alive() { # PROGRAM: whether the process that was started still runs
	local pid born
	[ -f "$1.pid" ] && read -r pid born <"$1.pid" && [ "$(birth "$pid")" = "$born" ]
}
launch() { # PROGRAM: runs the command line in FOLDER/PROGRAM.command, which has one argument in each line
	local command pid
	mapfile -t command <"$1.command"
	setsid "${command[@]}" </dev/null >>"$1.log" 2>&1 &
	pid=$!
	echo "$pid $(birth "$pid")" >"$1.pid"
}
start() { # PROGRAM FLAG...
	printf '%s\n' "$@" >"$1.command"
	: >"$1.log"
	launch "$1"
}
stop() { # PROGRAM [SIGNAL]
	local pid born
	if alive "$1"; then
		read -r pid born <"$1.pid"
		kill "-${2:-TERM}" "$pid" || true
		for _ in $(seq 100); do alive "$1" || break; sleep 0.1; done
		! alive "$1" || kill -KILL "$pid" || true
	fi
	rm -f "$1.pid"
}
down() { for program in $programs; do stop "$program"; done; }
wait_for() { # PROGRAM WHAT SECONDS COMMAND...
	local program=$1 what=$2 left=$(($3 * 10))
	shift 3
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		if [ "$left" -le 0 ] || ! alive "$program"; then
			echo "cluster.sh: no $what; see $dir/$program.log" >&2
			exit 1
		fi
		sleep 0.1
	done
}
user() { # NAME GROUP KUBECONFIG: a user with a token, which the API server reads when it starts
	local token
	token=$(openssl rand -hex 16)
	echo "$token,$1,$1,\"$2\"" >>tokens.csv
	cat >"$3" <<-Y
		apiVersion: v1
		kind: Config
		clusters: [{name: test, cluster: {server: "https://127.0.0.1:$port", certificate-authority: "$dir/certs/apiserver.crt"}}]
		users: [{name: test, user: {token: "$token"}}]
		contexts: [{name: test, context: {cluster: test, user: test}}]
		current-context: test
	Y
}
admin() { kubectl --kubeconfig kubeconfig "$@"; }

up() {
	local etcd_port peer_port port manager_port scheduler_port n
	for program in $programs; do
		! alive "$program" || { echo "cluster.sh: $program of $dir is already running" >&2; exit 1; }
	done
	local etcd_flags apiserver_flags controller_flags scheduler_flags kwok_flags
	read -ra etcd_flags <<<"${ETCD_FLAGS:-}"
	read -ra apiserver_flags <<<"${APISERVER_FLAGS:-}"
	read -ra controller_flags <<<"${CONTROLLER_FLAGS:-}"
	read -ra scheduler_flags <<<"${SCHEDULER_FLAGS:-}"
	read -ra kwok_flags <<<"${KWOK_FLAGS:-}"
	trap '[ $? = 0 ] || down' EXIT
	rm -rf etcd certs audit.log tokens.csv
	read -r etcd_port peer_port port manager_port scheduler_port <<<"$(free_ports 5)"
	umask 077
	openssl genrsa -out sa.key 2048 2>/dev/null
	openssl rsa -in sa.key -pubout -out sa.pub 2>/dev/null
	user admin system:masters kubeconfig
	user system:kube-controller-manager "" kube-controller-manager.kubeconfig
	user system:kube-scheduler "" kube-scheduler.kubeconfig
	user kwok system:masters kwok.kubeconfig
	[ -f audit-policy.yaml ] || cat >audit-policy.yaml <<-'Y'
		apiVersion: audit.k8s.io/v1
		kind: Policy
		omitStages: [RequestReceived]
		rules:
		- {level: None, verbs: [get, list, watch]}
		- {level: None, resources: [{group: coordination.k8s.io, resources: [leases]}]}
		- {level: Metadata}
	Y
	echo "$port" >port
	echo "$etcd_port" >etcd-port

	start etcd --data-dir etcd --unsafe-no-fsync --log-level warn \
		--listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
		--listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
		--initial-cluster "default=http://127.0.0.1:$peer_port" "${etcd_flags[@]}"
	# Service addresses in 127/8 belong to this machine without any network setup, so a process that listens on the
	# address of a Service is reached through the Service. The API server's advertised address is never used.
	start kube-apiserver --etcd-servers "http://127.0.0.1:$etcd_port" \
		--bind-address 127.0.0.1 --secure-port "$port" --advertise-address 192.0.2.1 --cert-dir certs \
		--service-cluster-ip-range 127.96.0.0/16 --allow-privileged \
		--service-account-issuer https://kubernetes.default.svc \
		--service-account-key-file sa.pub --service-account-signing-key-file sa.key \
		--authorization-mode RBAC --token-auth-file tokens.csv \
		--audit-policy-file audit-policy.yaml --audit-log-path audit.log "${apiserver_flags[@]}"
	wait_for kube-apiserver "ready API server" 120 admin get --raw /readyz
	start kube-controller-manager --kubeconfig kube-controller-manager.kubeconfig --use-service-account-credentials \
		--authentication-kubeconfig kube-controller-manager.kubeconfig \
		--authorization-kubeconfig kube-controller-manager.kubeconfig \
		--bind-address 127.0.0.1 --secure-port "$manager_port" --leader-elect=false \
		--service-account-private-key-file sa.key --root-ca-file certs/apiserver.crt "${controller_flags[@]}"
	if [ "${CLUSTER_NODES:-1}" -gt 0 ]; then
		start kube-scheduler --kubeconfig kube-scheduler.kubeconfig \
			--authentication-kubeconfig kube-scheduler.kubeconfig --authorization-kubeconfig kube-scheduler.kubeconfig \
			--bind-address 127.0.0.1 --secure-port "$scheduler_port" --leader-elect=false "${scheduler_flags[@]}"
		start kwok --kubeconfig kwok.kubeconfig --config "${KWOK_STAGES:-$(dirname "$(command -v kwok)")/kwok-stages.yaml}" \
			--manage-all-nodes --node-lease-duration-seconds 40 "${kwok_flags[@]}"
		for n in $(seq "${CLUSTER_NODES:-1}"); do
			cat <<-Y
				---
				apiVersion: v1
				kind: Node
				metadata:
				  name: node-$n
				  labels: {kubernetes.io/hostname: node-$n, kubernetes.io/os: linux, kubernetes.io/arch: amd64}
				status:
				  allocatable: {cpu: "32", memory: 256Gi, pods: "110"}
				  capacity: {cpu: "32", memory: 256Gi, pods: "110"}
			Y
		done | admin create -f - >/dev/null
		wait_for kwok "ready node" 60 admin wait --for=condition=Ready node --all --timeout=1s
	fi
	# No pod can be created in the namespace before a controller has made this service account.
	wait_for kube-controller-manager "default service account" 60 admin -n default get serviceaccount default
	echo "$dir/kubeconfig"
}

case $verb in
up) up ;;
down) down ;;
kill) stop "${3:?which program}" KILL ;;
start) alive "${3:?which program}" || launch "$3" ;;
*) echo "cluster.sh: unknown command $verb" >&2; exit 2 ;;
esac
