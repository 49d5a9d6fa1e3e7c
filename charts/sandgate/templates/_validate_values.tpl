{{/*
Single values that the schema cannot judge: texts in PEM form, addresses, durations, and names that the chart uses itself. Each
template here gives a list of sentences as JSON.
*/}}

{{/* "true" if the text has a PEM block with line breaks: (dict "text" … "type" "CERTIFICATE"). */}}
{{- define "sandgate.isPem" -}}
{{- regexMatch (printf "-----BEGIN %s-----[ \t]*\r?\n([A-Za-z0-9+/=]+[ \t]*\r?\n)+-----END %s-----" .type .type) (toString .text) -}}
{{- end -}}

{{/*
The paths of all texts below a value that have a part of a private key: (dict "path" "webhook" "value" …), one path a line. Whoever
can read the objects of the chart can read them.
*/}}
{{- define "sandgate.privateKeys" -}}
{{- if kindIs "map" .value -}}
{{- range $key, $value := .value -}}
{{- include "sandgate.privateKeys" (dict "path" (printf "%s.%s" $.path $key) "value" $value) -}}
{{- end -}}
{{- else if kindIs "slice" .value -}}
{{- range $index, $value := .value -}}
{{- include "sandgate.privateKeys" (dict "path" (printf "%s[%d]" $.path $index) "value" $value) -}}
{{- end -}}
{{- else if regexMatch "-----(BEGIN|END) [A-Z0-9 ]*PRIVATE KEY" (toString .value) -}}
{{- printf "%s\n" .path -}}
{{- end -}}
{{- end -}}

{{- define "sandgate.validate.texts" -}}
{{- $v := .Values -}}
{{- $wrong := list -}}
{{- range $id, $key := $v.keyring.keys -}}
{{- if contains "PRIVATE KEY" $key -}}
{{- $wrong = append $wrong (printf "keyring.keys.%s is a private key, which must never leave its owner: use the public key, as printed by openssl pkey -pubout" $id) -}}
{{- else if not (contains "-----BEGIN PUBLIC KEY-----" $key) -}}
{{- $wrong = append $wrong (printf "keyring.keys.%s has no PUBLIC KEY block: use the text that openssl pkey -pubout prints" $id) -}}
{{- else if ne "true" (include "sandgate.isPem" (dict "text" $key "type" "PUBLIC KEY")) -}}
{{- $wrong = append $wrong (printf "keyring.keys.%s has no complete PUBLIC KEY block with line breaks: give the file with --set-file keyring.keys.%s=<file.pem>, or write the value as a block (|)" $id $id) -}}
{{- end -}}
{{- end -}}
{{- /* keyring.keys has its own sentence. Extra objects can be Secrets, and of `global` only names are read. */ -}}
{{- range $part, $value := omit $v "keyring" "extraObjects" "global" -}}
{{- range include "sandgate.privateKeys" (dict "path" $part "value" $value) | splitList "\n" | compact -}}
{{- $wrong = append $wrong (printf "%s has a private key, which everyone could read who can read the objects of the chart: remove its block, and make a new key if this one was in use" .) -}}
{{- end -}}
{{- end -}}
{{- range $path, $text := dict "webhook.caBundle" $v.webhook.caBundle "tls.clientCA" $v.tls.clientCA -}}
{{- if and $text (not (contains "-----BEGIN CERTIFICATE-----" $text)) -}}
{{- $wrong = append $wrong (printf "%s must be the CA's certificate as PEM text, not base64" $path) -}}
{{- else if and $text (ne "true" (include "sandgate.isPem" (dict "text" $text "type" "CERTIFICATE"))) -}}
{{- $wrong = append $wrong (printf "%s has no complete CERTIFICATE block with line breaks: give the file with --set-file %s=<ca.pem>, or write the value as a block (|)" $path $path) -}}
{{- end -}}
{{- end -}}
{{- if or (contains "@" $v.image.repository) (regexMatch ":[^/]*$" $v.image.repository) -}}
{{- $wrong = append $wrong "image.repository has a tag or a digest: write it in image.tag or image.digest" -}}
{{- end -}}
{{- range $path, $name := dict "image.registry" $v.image.registry "global.imageRegistry" (default dict $v.global).imageRegistry "image.repository" $v.image.repository -}}
{{- if regexMatch "://|^/|/$" (default "" $name) -}}
{{- $wrong = append $wrong (printf "%s is %s: write it without https:// or another scheme, and without a slash at its beginning or end" $path $name) -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^([A-Za-z0-9.-]{1,63}|\\[[0-9A-Fa-f:.]{2,45}\\])$" $v.listenHost) -}}
{{- $wrong = append $wrong "listenHost must be an IPv4 address, a host name, or an IPv6 address in brackets, as in [::]" -}}
{{- else if regexMatch "^(127[.].*|localhost|\\[[0:]*:0*1\\])$" $v.listenHost -}}
{{- $wrong = append $wrong "listenHost is a loopback address, which neither the API server nor the kubelet can reach: use [::] or 0.0.0.0" -}}
{{- end -}}
{{- toJson $wrong -}}
{{- end -}}

{{/* A duration such as 1h30m, in seconds. */}}
{{- define "sandgate.seconds" -}}
{{- $sum := 0 -}}
{{- range regexFindAll "[0-9]+[hms]" . -1 -}}
{{- $unit := substr (sub (len .) 1 | int) (len .) . -}}
{{- $sum = add $sum (mul (trimSuffix $unit . | int64) (get (dict "h" 3600 "m" 60 "s" 1) $unit)) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* What cert-manager would refuse after the installation, or what would expire too early. */}}
{{- define "sandgate.validate.certificates" -}}
{{- $v := .Values -}}
{{- $wrong := list -}}
{{- if eq $v.tls.mode "certManager" -}}
{{- with $v.tls.certManager -}}
{{- $duration := include "sandgate.seconds" .duration | int64 -}}
{{- $before := include "sandgate.seconds" .renewBefore | int64 -}}
{{- if and .issuerRef (not .issuerRef.name) -}}
{{- $wrong = append $wrong "tls.certManager.issuerRef has no name: name the issuer, or leave issuerRef empty so that the chart makes one" -}}
{{- end -}}
{{- if lt $duration 3600 -}}
{{- $wrong = append $wrong "tls.certManager.duration must be at least 1h: cert-manager refuses less" -}}
{{- end -}}
{{- if lt $before 300 -}}
{{- $wrong = append $wrong "tls.certManager.renewBefore must be at least 5m: cert-manager refuses less" -}}
{{- end -}}
{{- if ge $before $duration -}}
{{- $wrong = append $wrong "tls.certManager.renewBefore must be less than tls.certManager.duration: otherwise a certificate is to be renewed before it is made" -}}
{{- end -}}
{{- if and (not .issuerRef) (lt (include "sandgate.seconds" .caDuration | int64) $duration) -}}
{{- $wrong = append $wrong "tls.certManager.caDuration must be at least tls.certManager.duration: a certificate cannot outlive its CA" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $name := include "sandgate.fullname" . -}}
{{- if and (eq $v.tls.mode "secret") (has $v.tls.secret.name (list (printf "%s-tls" $name) (printf "%s-cert-manager" $name) (printf "%s-ca" $name))) -}}
{{- $wrong = append $wrong (printf "tls.secret.name is %s, the name of a Secret of the other modes, which Helm or cert-manager removes or replaces: choose another name" $v.tls.secret.name) -}}
{{- end -}}
{{- toJson $wrong -}}
{{- end -}}

{{- define "sandgate.validate.scaling" -}}
{{- $wrong := list -}}
{{- $resources := .Values.resources -}}
{{- with .Values.autoscaling -}}
{{- if .enabled -}}
{{- if lt (int .maxReplicas) (int .minReplicas) -}}
{{- $wrong = append $wrong "autoscaling.maxReplicas is less than autoscaling.minReplicas" -}}
{{- end -}}
{{- if not (or .targetCPUUtilizationPercentage .targetMemoryUtilizationPercentage .metrics) -}}
{{- $wrong = append $wrong "autoscaling has no metric: set autoscaling.targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage or metrics" -}}
{{- end -}}
{{- range $resource, $target := dict "cpu" .targetCPUUtilizationPercentage "memory" .targetMemoryUtilizationPercentage -}}
{{- if and $target (not (get (default dict $resources.requests) $resource)) -}}
{{- $wrong = append $wrong (printf "autoscaling by %s needs resources.requests.%s: the target is a share of it" $resource $resource) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $wrong -}}
{{- end -}}

{{/* What the API server refuses in the Deployment, after the webhook configuration has been made. */}}
{{- define "sandgate.validate.pods" -}}
{{- $v := .Values -}}
{{- $wrong := list -}}
{{- $requests := default dict $v.resources.requests -}}
{{- $limits := default dict (include "sandgate.resources" . | fromYaml).limits -}}
{{- range $name, $example := dict "cpu" "500m" "memory" "64Mi" "ephemeral-storage" "64Mi" -}}
{{- $reader := eq $name "cpu" | ternary "sandgate.millicores" "sandgate.bytes" -}}
{{- $amounts := dict -}}
{{- range $part, $given := dict "requests" $requests "limits" $limits -}}
{{- if not (kindIs "invalid" (index $given $name)) -}}
{{- $amount := include $reader (index $given $name) | int64 -}}
{{- if ge $amount 0 -}}
{{- $_ := set $amounts $part $amount -}}
{{- else if ne (printf "%s.%s" $part $name) "limits.memory" -}}
{{- $wrong = append $wrong (printf "resources.%s.%s must be a quantity such as %s" $part $name $example) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (eq 2 (len $amounts)) (gt (get $amounts "requests") (get $amounts "limits")) -}}
{{- if hasKey (default dict $v.resources.limits) $name -}}
{{- $wrong = append $wrong (printf "resources.limits.%s is less than resources.requests.%s: the API server refuses such pods" $name $name) -}}
{{- else -}}
{{- $wrong = append $wrong (printf "resources.requests.%s is more than the limit, which is %s as long as resources.limits.%s is not set: set it, or request less" $name (get $limits $name) $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $rolling := include "sandgate.rolling" . | fromJson -}}
{{- if and (has (toString $rolling.maxSurge) (list "0" "0%")) (has (toString $rolling.maxUnavailable) (list "0" "0%")) -}}
{{- $wrong = append $wrong "updateStrategy.rollingUpdate has maxSurge 0 and maxUnavailable 0, with which no update could begin: set one of them to more" -}}
{{- end -}}
{{- if ge (int $v.minReadySeconds) 600 -}}
{{- $wrong = append $wrong "minReadySeconds must be less than 600: the API server refuses a Deployment that must not be ready before its progress deadline, 600 s" -}}
{{- end -}}
{{- if and (eq (default "" $v.dnsPolicy) "None") (not (default dict $v.dnsConfig).nameservers) -}}
{{- $wrong = append $wrong "dnsPolicy is None, so dnsConfig.nameservers must name a server: the API server refuses pods without one" -}}
{{- end -}}
{{- toJson $wrong -}}
{{- end -}}

{{/* Names that would be rendered twice. */}}
{{- define "sandgate.validate.names" -}}
{{- $v := .Values -}}
{{- $name := include "sandgate.fullname" . -}}
{{- $wrong := list -}}
{{- range $path, $map := dict "podAnnotations" $v.podAnnotations "commonAnnotations" $v.commonAnnotations -}}
{{- if hasKey (default dict $map) "sandgate.runx.dev/restart-on-change" -}}
{{- $wrong = append $wrong (printf "%s has sandgate.runx.dev/restart-on-change, which the chart sets itself: remove it" $path) -}}
{{- end -}}
{{- end -}}
{{- range $path, $map := dict "commonLabels" $v.commonLabels "global.commonLabels" (default dict $v.global).commonLabels "commonAnnotations" $v.commonAnnotations "metrics.dashboard.labels" $v.metrics.dashboard.labels -}}
{{- range $key, $_ := default dict $map -}}
{{- if regexMatch "(?i)(^|[.])sandbox[.]runx[.]dev/" $key -}}
{{- $wrong = append $wrong (printf "%s has %s, which the gate reads: it would take objects of the chart for evidence, or change the test; remove it" $path $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := $v.tests.podAnnotations -}}
{{- if hasPrefix "sandbox.runx.dev/" $key -}}
{{- $wrong = append $wrong (printf "tests.podAnnotations has %s: with another annotation of the gate the test would test something else; remove it" $key) -}}
{{- end -}}
{{- end -}}
{{- range $item := $v.extraInitContainers -}}
{{- range $v.extraContainers -}}
{{- if eq .name $item.name -}}
{{- $wrong = append $wrong (printf "extraInitContainers and extraContainers both contain the name %s: choose another name" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $id, $_ := $v.evidence.documents -}}
{{- if has $id (list (printf "%s-config" $name) (include "sandgate.keyring" $) (printf "%s-dashboard" $name)) -}}
{{- $wrong = append $wrong (printf "evidence.documents has the name %s, which is the name of another ConfigMap of the gate: choose another name" $id) -}}
{{- end -}}
{{- end -}}
{{- $lists := dict "extraVolumes" (list "config" "keys" "tls") "extraContainers" (list "sandgate") "extraInitContainers" (list "sandgate") "webhook.matchConditions" (list "changed" "managed" "unmanaged" "no-mirror-pod") -}}
{{- range $path, $items := dict "extraVolumes" $v.extraVolumes "extraContainers" $v.extraContainers "extraInitContainers" $v.extraInitContainers "webhook.matchConditions" $v.webhook.matchConditions -}}
{{- $seen := list -}}
{{- range $item := $items -}}
{{- if has $item.name (get $lists $path) -}}
{{- $wrong = append $wrong (printf "%s contains the name %s, which the chart uses itself: choose another name" $path $item.name) -}}
{{- else if has $item.name $seen -}}
{{- $wrong = append $wrong (printf "%s contains the name %s twice" $path $item.name) -}}
{{- end -}}
{{- $seen = append $seen $item.name -}}
{{- end -}}
{{- end -}}
{{- range $v.extraVolumeMounts -}}
{{- $path := clean (toString .mountPath) -}}
{{- if has $path (list "/etc/sandgate" "/etc/sandgate/config" "/etc/sandgate/keys" "/etc/sandgate/tls") -}}
{{- $wrong = append $wrong (printf "extraVolumeMounts has the mountPath %s, which the chart uses itself: choose another path" $path) -}}
{{- end -}}
{{- end -}}
{{- toJson $wrong -}}
{{- end -}}
