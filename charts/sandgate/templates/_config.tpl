{{/*
The gate's configuration. Each value is written as JSON: JSON is also YAML, it does not round large numbers, and no value is
ambiguous.
*/}}
{{- define "sandgate.config" -}}
{{- $config := .Values.config -}}
apiVersion: sandbox.runx.dev/v1
kind: GateConfiguration
listen:
  webhook: {{ printf "%s:%d" .Values.listenHost (int .Values.webhook.securePort) | toRawJson }}
  admin: {{ include "sandgate.admin" . | toRawJson }}
tls:
{{- if eq .Values.tls.mode "self" }}
  self:
    secret: {{ include "sandgate.tlsSecret" . | toRawJson }}
    webhookConfiguration: {{ ternary (include "sandgate.fullname" .) "" .Values.webhook.enabled | toRawJson }}
    dnsNames: {{ include "sandgate.dnsNames" . }}
    caDays: {{ .Values.tls.self.caDays | toRawJson }}
    certificateDays: {{ .Values.tls.self.certificateDays | toRawJson }}
{{- else }}
  certificate: "/etc/sandgate/tls/tls.crt"
  key: "/etc/sandgate/tls/tls.key"
{{- end }}
  clientCA: {{ ternary "/etc/sandgate/config/client-ca.crt" "" (not (empty .Values.tls.clientCA)) | toRawJson }}
  clientNames: {{ .Values.tls.clientNames | default list | toRawJson }}
keyring:
  directory: "/etc/sandgate/keys"
  threshold: {{ $config.keyring.threshold | toRawJson }}
  kinds: {{ $config.keyring.kinds | default dict | toRawJson }}
evidence:
  source: {{ .Values.evidence.source | toRawJson }}
  directory: {{ .Values.evidence.directory | default "" | toRawJson }}
  namespace: {{ include "sandgate.namespace" . | toRawJson }}
{{- with .Values.evidence.namespaces }}
  namespaces: {{ toRawJson . }}
{{- end }}
  kubeconfig: ""
{{- range $key := list "unsigned" "maxAgeDays" "clockSkewSeconds" "maxStaleSeconds" "minBaselines" }}
  {{ $key }}: {{ get $config.evidence $key | toRawJson }}
{{- end }}
  revoked: {{ $config.evidence.revoked | default list | toRawJson }}
  audience: {{ $config.evidence.audience | default "" | toRawJson }}
defaults:
{{- range $key := list "enforce" "warn" "audit" "controllers" }}
  {{ $key }}: {{ get $config.defaults $key | toRawJson }}
{{- end }}
{{- /* Gates of the version before do not know the keys `boundary`, here and below: none is written where it changes nothing. */}}
{{- if ne $config.defaults.boundary "record" }}
  boundary: {{ $config.defaults.boundary | toRawJson }}
{{- end }}
floor:
{{- range $key := list "enforce" "warn" "audit" }}
  {{ $key }}: {{ get $config.floor $key | toRawJson }}
{{- end }}
{{- if ne $config.floor.boundary "none" }}
  boundary: {{ $config.floor.boundary | toRawJson }}
{{- end }}
{{- if .Values.boundary.networkPolicies }}
boundary:
  networkPolicies: true
{{- end }}
exempt:
{{- range $key := list "namespaces" "users" "runtimeClasses" }}
  {{ $key }}: {{ get (default dict $config.exempt) $key | default list | toRawJson }}
{{- end }}
limits:
{{- range $key := list "maxBodyBytes" "maxInFlight" "maxInFlightBytes" "maxConnections" "threads" "deadlineMarginMilliseconds" }}
  {{ $key }}: {{ get $config.limits $key | toRawJson }}
{{- end }}
decisionLog:
{{- range $key := list "path" "allowed" }}
  {{ $key }}: {{ get $config.decisionLog $key | toRawJson }}
{{- end }}
drainSeconds: {{ $config.drainSeconds | toRawJson }}
{{- end -}}

{{/* Address of the admin port: loopback, unless metrics.enabled is set. */}}
{{- define "sandgate.admin" -}}
{{- printf "%s:%d" (ternary .Values.listenHost "127.0.0.1" .Values.metrics.enabled) (int .Values.metrics.port) -}}
{{- end -}}

{{/*
A hash of the settings whose change restarts the pods: it is an annotation of theirs. The gate reloads everything else
(configuration, keyring, certificates) without a restart.
*/}}
{{- define "sandgate.restart" -}}
{{- $fixed := fromYaml (include "sandgate.config" .) -}}
{{- dict "listen" $fixed.listen "tls" $fixed.tls "evidence" (pick $fixed.evidence "source" "directory" "namespaces") "boundary" $fixed.boundary "threads" $fixed.limits.threads | toRawJson | sha256sum -}}
{{- end -}}
