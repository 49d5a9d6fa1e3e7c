#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds all programs that cluster.sh starts, cert-manager, and Helm 4 and 3 (`helm` and `helm3`):
#   build.sh FOLDER          with the newest Kubernetes (cluster/go.mod)
#   build.sh FOLDER 1.35     with another one (cluster/go-1.35.mod)
set -eu
out=$(mkdir -p "${1:?usage: build.sh FOLDER [1.MINOR]}" && cd "$1" && pwd)
modfile=go${2:+-$2}.mod
cd "$(dirname "$0")"
export CGO_ENABLED=0

version=$(cd cluster && go version) || {
	echo "build.sh: Go 1.26 or newer is needed; install it as https://go.dev/doc/install describes" >&2
	exit 1
}
echo "build.sh: $version"

# One program for all of Kubernetes and etcd, linked once and called by several names. The linker sets the version;
# without it the API server reports v0.0.0-master+$Format:%H$ and the kubeVersion checks of Helm charts fail.
(
	cd cluster
	version=$(go list -modfile "$modfile" -m -f '{{.Version}}' k8s.io/kubernetes)
	minor=${version#v1.}
	minor=${minor%%.*}
	set -- -s -w
	for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		for setting in gitVersion="$version" gitMajor=1 gitMinor="$minor" gitTreeState=clean \
			gitCommit=0000000000000000000000000000000000000000 buildDate=1970-01-01T00:00:00Z; do
			set -- "$@" -X "$package.$setting"
		done
	done
	go build -modfile "$modfile" -trimpath -ldflags "$*" -o "$out/cluster" .
)
for name in etcd kube-apiserver kube-controller-manager kube-scheduler kubectl; do
	ln -sf cluster "$out/$name"
done

# kwok simulates the kubelets of nodes without machines. Its stages define what it does with pods and nodes.
(
	cd kwok
	version=$(go list -m -f '{{.Version}}' sigs.k8s.io/kwok)
	go build -trimpath -ldflags "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=$version" -o "$out/kwok" \
		sigs.k8s.io/kwok/cmd/kwok
	# The directory of the module is known only after the build has fetched it.
	folder=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)
	for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease \
		pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
		echo ---
		cat "$folder/kustomize/stage/$stage.yaml"
	done >"$out/kwok-stages.yaml.new"
	mv "$out/kwok-stages.yaml.new" "$out/kwok-stages.yaml"
)

(
	cd cert-manager
	go build -trimpath -ldflags "-s -w" -o "$out/cert-manager" .
	folder=$(go list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)
	for kind in certificaterequests certificates clusterissuers issuers; do
		cat "$folder/deploy/crds/cert-manager.io_$kind.yaml"
	done >"$out/cert-manager-crds.yaml.new"
	mv "$out/cert-manager-crds.yaml.new" "$out/cert-manager-crds.yaml"
)

# Both in one module, so that they have the same libraries, which are then compiled once.
(
	cd helm
	for program in 3:helm3 4:helm; do
		path=helm.sh/helm/v${program%:*}
		version=$(go list -m -f '{{.Version}}' "$path")
		go build -trimpath -ldflags "-s -w -X $path/internal/version.version=$version" -o "$out/${program#*:}" "$path/cmd/helm"
	done
)
