{{/* Names, labels and parts that several kinds of objects share. */}}

{{- define "sandgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 48 characters, so that the name with any suffix is not longer than a label (63). */}}
{{- define "sandgate.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" -}}
{{- else if contains (include "sandgate.name" .) .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "sandgate.name" .) | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/*
Cluster-wide objects do not have the namespace in their names: Helm refuses a second release whose objects already exist.

The Secret has another name in each mode. Its type cannot change, and cert-manager leaves its Secret when a Certificate is
deleted: with one name, an upgrade from certManager to self would find a Secret of another type and of another owner.
*/}}
{{- define "sandgate.tlsSecret" -}}
{{- if eq .Values.tls.mode "secret" -}}
{{- .Values.tls.secret.name -}}
{{- else if eq .Values.tls.mode "certManager" -}}
{{- include "sandgate.fullname" . }}-cert-manager
{{- else -}}
{{- include "sandgate.fullname" . }}-tls
{{- end -}}
{{- end -}}

{{- define "sandgate.keyring" -}}
{{- default (printf "%s-keyring" (include "sandgate.fullname" .)) .Values.keyring.existingConfigMap -}}
{{- end -}}

{{- define "sandgate.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "sandgate.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "sandgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "sandgate.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: gate
{{- end -}}

{{- define "sandgate.labels" -}}
{{- $own := dict "app.kubernetes.io/name" (include "sandgate.name" .) "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/component" "gate" "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/part-of" "sandgate" "app.kubernetes.io/managed-by" .Release.Service "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") -}}
{{- toYaml (merge $own (default dict .Values.commonLabels) (default dict (default dict .Values.global).commonLabels)) -}}
{{- end -}}

{{/* The namespace of the gate. */}}
{{- define "sandgate.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* The namespace of what the Prometheus Operator and Grafana read. */}}
{{- define "sandgate.metricsNamespace" -}}
{{- default (include "sandgate.namespace" .) .Values.metrics.namespace -}}
{{- end -}}

{{/*
Name, namespace, labels and annotations of an object: (dict "root" $ "name" … "namespace" … "labels" … "annotations" …). Without
"namespace" it is that of the gate; it is "" for an object of the cluster. `kubectl apply` knows no namespace of a release.
*/}}
{{- define "sandgate.metadata" -}}
{{- $labels := merge (dict) (fromYaml (include "sandgate.labels" .root)) (default dict .labels) -}}
{{- $annotations := merge (dict) (default dict .annotations) (default dict .root.Values.commonAnnotations) -}}
name: {{ .name | quote }}
{{- with hasKey . "namespace" | ternary .namespace (include "sandgate.namespace" .root) }}
namespace: {{ . | quote }}
{{- end }}
labels:
  {{- toYaml $labels | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "sandgate.image" -}}
{{- with .Values.image -}}
{{- $registry := default .registry (default dict $.Values.global).imageRegistry -}}
{{- $name := ternary (printf "%s/%s" $registry .repository) .repository (ne $registry "") -}}
{{- printf "%s:%s" $name (default $.Chart.AppVersion .tag) -}}
{{- with .digest -}}@{{ . }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* imagePullSecrets of the chart and of global, as a JSON list of {name}. */}}
{{- define "sandgate.pullSecrets" -}}
{{- $found := default list .Values.imagePullSecrets -}}
{{- range (default dict .Values.global).imagePullSecrets -}}
{{- $found = append $found (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- uniq $found | toJson -}}
{{- end -}}

{{- define "sandgate.nodeSelector" -}}
{{- merge (dict) (default dict .Values.nodeSelector) (default dict (default dict .Values.global).nodeSelector) | toJson -}}
{{- end -}}

{{- define "sandgate.priorityClass" -}}
{{- default .Values.priorityClassName (default dict .Values.global).priorityClassName -}}
{{- end -}}

{{/* The least number of gates, and the largest. Without replicaCount a new Deployment has one. */}}
{{- define "sandgate.leastReplicas" -}}
{{- .Values.autoscaling.enabled | ternary .Values.autoscaling.minReplicas (default 1 .Values.replicaCount) -}}
{{- end -}}

{{- define "sandgate.mostReplicas" -}}
{{- .Values.autoscaling.enabled | ternary .Values.autoscaling.maxReplicas (default 1 .Values.replicaCount) -}}
{{- end -}}

{{/* "true" if the gate runs in this cluster. */}}
{{- define "sandgate.runs" -}}
{{- if not .Values.webhook.url -}}true{{- end -}}
{{- end -}}

{{/* "true" if the gate connects to the API server. */}}
{{- define "sandgate.asksCluster" -}}
{{- if or (eq .Values.evidence.source "cluster") (include "sandgate.makesCertificates" .) -}}true{{- end -}}
{{- end -}}

{{- define "sandgate.makesCertificates" -}}
{{- if and (include "sandgate.runs" .) (eq .Values.tls.mode "self") -}}true{{- end -}}
{{- end -}}

{{/* The names of the Service, as a JSON list. */}}
{{- define "sandgate.dnsNames" -}}
{{- $host := printf "%s.%s" (include "sandgate.fullname" .) (include "sandgate.namespace" .) -}}
{{- list (printf "%s.svc" $host) (printf "%s.svc.cluster.local" $host) | toJson -}}
{{- end -}}

{{- define "sandgate.gracePeriod" -}}
{{- if kindIs "invalid" .Values.terminationGracePeriodSeconds -}}
{{- add (int .Values.preStopSleepSeconds) (int .Values.config.drainSeconds) 15 -}}
{{- else -}}
{{- int .Values.terminationGracePeriodSeconds -}}
{{- end -}}
{{- end -}}

{{/* An extra object, given as text with templates or as a map. */}}
{{- define "sandgate.object" -}}
{{- if kindIs "string" .value -}}{{ tpl .value .root }}{{- else -}}{{ tpl (toYaml .value) .root }}{{- end -}}
{{- end -}}

{{/* The endpoint of a ServiceMonitor or PodMonitor. */}}
{{- define "sandgate.endpoint" -}}
port: metrics
path: /metrics
interval: {{ .interval }}
scrapeTimeout: {{ .scrapeTimeout }}
{{- with .relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
A map as YAML without the members that have the default of the API: (dict "of" … "defaults" …); nothing if no member is left. A
default that is rendered would have Helm as its owner in server-side apply, in conflict with other managers.
*/}}
{{- define "sandgate.withoutDefaults" -}}
{{- $defaults := .defaults -}}
{{- $rest := dict -}}
{{- range $key, $value := .of -}}
{{- if not (and (hasKey $defaults $key) (eq (get $defaults $key | toString) (toString $value))) -}}
{{- $_ := set $rest $key $value -}}
{{- end -}}
{{- end -}}
{{- with $rest -}}{{ toYaml . }}{{- end -}}
{{- end -}}

{{- define "sandgate.probe" -}}
httpGet:
  path: {{ .path }}
  port: https
  scheme: HTTPS
{{ include "sandgate.withoutDefaults" (dict "of" .timing "defaults" (dict "initialDelaySeconds" 0 "periodSeconds" 10 "timeoutSeconds" 1 "successThreshold" 1 "failureThreshold" 3)) }}
{{- end -}}

{{/* The members of updateStrategy.rollingUpdate, as JSON: none with `Recreate`, for which the API refuses them. */}}
{{- define "sandgate.rolling" -}}
{{- $given := default dict .Values.updateStrategy -}}
{{- eq (toString $given.type) "Recreate" | ternary dict (default dict $given.rollingUpdate) | toJson -}}
{{- end -}}

{{/* The strategy of the Deployment, without defaults; nothing if it has no other member. */}}
{{- define "sandgate.strategy" -}}
{{- $strategy := omit (default dict .Values.updateStrategy) "rollingUpdate" -}}
{{- with include "sandgate.withoutDefaults" (dict "of" (include "sandgate.rolling" . | fromJson) "defaults" (dict "maxUnavailable" "25%" "maxSurge" "25%")) -}}
{{- $_ := set $strategy "rollingUpdate" (fromYaml .) -}}
{{- end -}}
{{ include "sandgate.withoutDefaults" (dict "of" $strategy "defaults" (dict "type" "RollingUpdate")) }}
{{- end -}}

{{/* The defaults of the API for an image: Always for the tag `latest`, otherwise IfNotPresent. */}}
{{- define "sandgate.pullPolicy" -}}
{{- if ne .Values.image.pullPolicy (eq (default "" .Values.image.tag) "latest" | ternary "Always" "IfNotPresent") -}}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}
{{- end -}}

{{- define "sandgate.subject" -}}
- kind: ServiceAccount
  name: {{ include "sandgate.serviceAccount" . | quote }}
  namespace: {{ include "sandgate.namespace" . | quote }}
{{- end -}}

{{/* The name of the test's Job and namespace. The hash keeps it apart from names of others, and of other releases. */}}
{{- define "sandgate.testName" -}}
{{- printf "%s-test-%s" (include "sandgate.fullname" .) (printf "%s/%s" .Release.Namespace .Release.Name | sha256sum | trunc 8) -}}
{{- end -}}

{{- define "sandgate.testNamespace" -}}
{{- default (include "sandgate.testName" .) .Values.tests.namespace -}}
{{- end -}}

{{/* "true" if `helm test` has a test, otherwise the reason why not. */}}
{{- define "sandgate.tested" -}}
{{- $floor := .Values.config.floor -}}
{{- if not .Values.tests.enabled -}}
tests.enabled is false
{{- else if or (not .Values.webhook.enabled) (ne .Values.webhook.failurePolicy "Fail") -}}
the API server would accept its pod even if the gate does not answer
{{- else if or .Values.webhook.namespaceSelector .Values.webhook.objectSelector .Values.webhook.matchConditions -}}
webhook.namespaceSelector, objectSelector or matchConditions could exclude its pod
{{- else if or (ne $floor.enforce "none") (ne $floor.warn "none") (ne $floor.audit "none") -}}
config.floor would apply to its pod
{{- else if and (eq .Values.config.defaults.enforce "required") (not .Values.tests.namespace) -}}
config.defaults.enforce is required, and the chart makes no namespace outside of it: tests.namespace must name a namespace with the label sandbox.runx.dev/enforce=none
{{- else if eq .Values.evidence.source "directory" -}}
with evidence.source directory the gate reads no labels of namespaces
{{- else if and .Values.evidence.namespaces (not .Values.tests.namespace) -}}
tests.namespace must name one of evidence.namespaces, with the label sandbox.runx.dev/enforce=none
{{- else if and (include "sandgate.pullSecrets" . | fromJsonArray) (not .Values.tests.namespace) -}}
tests.namespace must name a namespace that has the Secrets of imagePullSecrets, with the label sandbox.runx.dev/enforce=none
{{- else -}}
true
{{- end -}}
{{- end -}}

{{/* The bytes of a quantity of memory, `288Mi` or `1.5Gi`; -1 where it is written in another way. */}}
{{- define "sandgate.bytes" -}}
{{- $text := kindIs "string" . | ternary (toString .) (toString (int64 .)) -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- if regexMatch "^[0-9]+([.][0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$" $text -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- mulf (float64 (trimSuffix $unit $text)) (get $units $unit) | floor | int64 -}}
{{- else -}}
-1
{{- end -}}
{{- end -}}

{{/* The thousandths of a quantity of cpu, `250m` or `0.5`; -1 where it is written in another way. */}}
{{- define "sandgate.millicores" -}}
{{- $text := toString . -}}
{{- if regexMatch "^[0-9]+([.][0-9]+)?m?$" $text -}}
{{- mulf (float64 (trimSuffix "m" $text)) (hasSuffix "m" $text | ternary 1 1000) | ceil | int64 -}}
{{- else -}}
-1
{{- end -}}
{{- end -}}

{{/* What a gate can need at most, in MiB: gate-v1, section 8. */}}
{{- define "sandgate.memoryMebibytes" -}}
{{- $limits := .Values.config.limits -}}
{{- $bytes := add (int64 $limits.maxInFlightBytes) (mul 81920 (int64 $limits.maxConnections)) (include "sandgate.bytes" .Values.evidence.memory | int64) 33554432 -}}
{{- div (add $bytes 1048575) 1048576 -}}
{{- end -}}

{{- define "sandgate.resources" -}}
{{- $resources := deepCopy .Values.resources -}}
{{- if kindIs "map" $resources.limits -}}
{{- if kindIs "invalid" $resources.limits.memory -}}
{{- $_ := set $resources.limits "memory" (printf "%sMi" (include "sandgate.memoryMebibytes" .)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}
