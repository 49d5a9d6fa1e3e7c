{{/* What the schema cannot see: values that are right by themselves and make no sense together. All of them at once. */}}
{{- define "sandgate.validate" -}}
{{- $v := .Values -}}
{{- $runs := include "sandgate.runs" . -}}
{{- $wrong := list -}}
{{- if and $runs (not $v.keyring.keys) (not $v.keyring.existingConfigMap) -}}
{{- $wrong = append $wrong "no key counts, so the gate would not start: give one by --set-file keyring.keys.<key-id>=<file.pem>, or name a ConfigMap by keyring.existingConfigMap" -}}
{{- end -}}
{{- if and $v.keyring.keys $v.keyring.existingConfigMap -}}
{{- $wrong = append $wrong "keyring.keys and keyring.existingConfigMap are both given: put all keys into one of them" -}}
{{- end -}}
{{- range $id, $key := $v.keyring.keys -}}
{{- if contains "PRIVATE KEY" $key -}}
{{- $wrong = append $wrong (printf "keyring.keys.%s is a private key, which must never leave its owner: give the public key, as openssl pkey -pubout prints it" $id) -}}
{{- else if not (contains "-----BEGIN PUBLIC KEY-----" $key) -}}
{{- $wrong = append $wrong (printf "keyring.keys.%s has no PUBLIC KEY block: give the text that openssl pkey -pubout prints" $id) -}}
{{- end -}}
{{- end -}}
{{- range $kind, $signers := $v.config.keyring.kinds -}}
{{- range $id := $signers.keys -}}
{{- if and $v.keyring.keys (not (hasKey $v.keyring.keys $id)) -}}
{{- $wrong = append $wrong (printf "config.keyring.kinds.%s names the key %s, which keyring.keys does not have" $kind $id) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "sandgate.fullname" .)) -}}
{{- $wrong = append $wrong (printf "%s is no name for a Service: it must begin with a letter and have no dots; give another by fullnameOverride" (include "sandgate.fullname" .)) -}}
{{- end -}}
{{- if eq .Release.Namespace "kube-system" -}}
{{- $wrong = append $wrong "the gate must not live in kube-system: exemptions and baselines count in its own namespace, and whoever may write there could make them; install it into a namespace of its own" -}}
{{- end -}}
{{- if and (eq $v.evidence.source "directory") (not $v.evidence.directory) -}}
{{- $wrong = append $wrong "evidence.source is directory, so evidence.directory must name one, mounted by extraVolumes and extraVolumeMounts" -}}
{{- end -}}
{{- if and (eq $v.evidence.source "cluster") $v.evidence.directory -}}
{{- $wrong = append $wrong "evidence.directory is only read with evidence.source: directory" -}}
{{- end -}}
{{- if and (eq $v.evidence.source "directory") $v.evidence.namespaces -}}
{{- $wrong = append $wrong "evidence.namespaces limits what is read from the cluster, but evidence.source is directory" -}}
{{- end -}}
{{- range $namespace := list .Release.Namespace "kube-system" -}}
{{- if has $namespace $v.evidence.namespaces -}}
{{- $wrong = append $wrong (printf "evidence.namespaces has %s, whose pods are never judged: take it out" $namespace) -}}
{{- end -}}
{{- end -}}
{{- range $namespace := $v.evidence.namespaces -}}
{{- if has $namespace $v.webhook.excludeNamespaces -}}
{{- $wrong = append $wrong (printf "%s is in evidence.namespaces and in webhook.excludeNamespaces: is it judged or not?" $namespace) -}}
{{- end -}}
{{- end -}}
{{- if and $runs (eq $v.tls.mode "secret") -}}
{{- if not $v.tls.secret.name -}}
{{- $wrong = append $wrong "tls.mode is secret, so tls.secret.name must name the Secret with tls.crt and tls.key" -}}
{{- end -}}
{{- $injected := false -}}
{{- range $key, $_ := $v.webhook.annotations -}}
{{- if hasPrefix "cert-manager.io/inject-" $key -}}{{- $injected = true -}}{{- end -}}
{{- end -}}
{{- if and (not $v.webhook.caBundle) (not $injected) $v.webhook.enabled -}}
{{- $wrong = append $wrong "tls.mode is secret, so the API server must learn whom to trust: give the CA by --set-file webhook.caBundle=<ca.pem>, or an annotation cert-manager.io/inject-… by webhook.annotations" -}}
{{- end -}}
{{- end -}}
{{- if and $runs (ne $v.tls.mode "secret") $v.webhook.caBundle -}}
{{- $wrong = append $wrong (printf "webhook.caBundle is for tls.mode secret and for webhook.url: with tls.mode %s it is filled in" $v.tls.mode) -}}
{{- end -}}
{{- if and $v.webhook.caBundle (not (contains "-----BEGIN CERTIFICATE-----" $v.webhook.caBundle)) -}}
{{- $wrong = append $wrong "webhook.caBundle must be the CA's certificate as PEM text, not base64" -}}
{{- end -}}
{{- if and (ne $v.tls.mode "secret") $v.tls.secret.name -}}
{{- $wrong = append $wrong "tls.secret.name is only read with tls.mode: secret" -}}
{{- end -}}
{{- if and $v.webhook.url (ne $v.tls.mode "self") -}}
{{- $wrong = append $wrong "webhook.url is a gate outside of the cluster, which has its certificate from elsewhere: leave tls.mode as it is, and give its CA by webhook.caBundle" -}}
{{- end -}}
{{- if and $v.webhook.url (not $v.webhook.enabled) -}}
{{- $wrong = append $wrong "webhook.url is given and webhook.enabled is false: nothing would be installed" -}}
{{- end -}}
{{- if and $v.webhook.url (or $v.metrics.enabled $v.keyring.keys $v.keyring.existingConfigMap) -}}
{{- $wrong = append $wrong "webhook.url is a gate outside of the cluster: its keys and metrics are configured there, not by keyring and metrics" -}}
{{- end -}}
{{- if and (eq $v.tls.mode "self") (gt (mul 3 (int $v.tls.self.certificateDays)) (int $v.tls.self.caDays)) -}}
{{- $wrong = append $wrong "tls.self.caDays must be at least three times tls.self.certificateDays" -}}
{{- end -}}
{{- if and $v.tls.clientCA (not $v.tls.clientNames) -}}
{{- $wrong = append $wrong "tls.clientCA needs tls.clientNames: without names nobody may ask" -}}
{{- end -}}
{{- if and $v.tls.clientNames (not $v.tls.clientCA) -}}
{{- $wrong = append $wrong "tls.clientNames needs tls.clientCA: without it no name is checked" -}}
{{- end -}}
{{- range $path, $seconds := dict "webhook.timeoutSeconds" $v.webhook.timeoutSeconds "webhook.templates.timeoutSeconds" $v.webhook.templates.timeoutSeconds -}}
{{- if ge (int $v.config.limits.deadlineMarginMilliseconds) (mul 1000 (int $seconds) | int) -}}
{{- $wrong = append $wrong (printf "config.limits.deadlineMarginMilliseconds leaves nothing of %s" $path) -}}
{{- end -}}
{{- end -}}
{{- if lt (div (int64 $v.config.limits.maxInFlightBytes) 4) (int64 $v.config.limits.maxBodyBytes) -}}
{{- $wrong = append $wrong "a quarter of config.limits.maxInFlightBytes must be at least config.limits.maxBodyBytes" -}}
{{- end -}}
{{- range $condition := $v.webhook.matchConditions -}}
{{- if has $condition.name (list "changed" "managed" "unmanaged" "no-mirror-pod") -}}
{{- $wrong = append $wrong (printf "webhook.matchConditions has one by the name %s, which the chart uses itself: give it another" $condition.name) -}}
{{- end -}}
{{- end -}}
{{- $pdb := $v.podDisruptionBudget -}}
{{- if and (not (kindIs "invalid" $pdb.minAvailable)) (not (kindIs "invalid" $pdb.maxUnavailable)) -}}
{{- $wrong = append $wrong "podDisruptionBudget takes minAvailable or maxUnavailable, not both" -}}
{{- end -}}
{{- if not (kindIs "invalid" $v.terminationGracePeriodSeconds) -}}
{{- $least := add (int $v.preStopSleepSeconds) (int $v.config.drainSeconds) 10 -}}
{{- if lt (int $v.terminationGracePeriodSeconds) (int $least) -}}
{{- $wrong = append $wrong (printf "terminationGracePeriodSeconds must be at least %d: preStopSleepSeconds, config.drainSeconds and 10 s for what has begun; else requests are lost" (int $least)) -}}
{{- end -}}
{{- end -}}
{{- if eq (int $v.webhook.securePort) (int $v.metrics.port) -}}
{{- $wrong = append $wrong "webhook.securePort and metrics.port are the same" -}}
{{- end -}}
{{- if and $v.metrics.enabled (eq (int $v.service.port) (int $v.metrics.port)) -}}
{{- $wrong = append $wrong "service.port and metrics.port are the same" -}}
{{- end -}}
{{- range $what := list "serviceMonitor" "podMonitor" "prometheusRule" "dashboard" -}}
{{- if and (get $v.metrics $what).enabled (not $v.metrics.enabled) -}}
{{- $wrong = append $wrong (printf "metrics.%s.enabled needs metrics.enabled: otherwise the port is on loopback, and nobody scrapes it" $what) -}}
{{- end -}}
{{- end -}}
{{- if and $v.metrics.serviceMonitor.enabled $v.metrics.podMonitor.enabled -}}
{{- $wrong = append $wrong "metrics.serviceMonitor and metrics.podMonitor are both enabled: everything would be counted twice" -}}
{{- end -}}
{{- if ne $v.config.decisionLog.path "-" -}}
{{- $mounted := false -}}
{{- range $v.extraVolumeMounts -}}
{{- if hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) $v.config.decisionLog.path -}}{{- $mounted = true -}}{{- end -}}
{{- end -}}
{{- if not $mounted -}}
{{- $wrong = append $wrong "config.decisionLog.path is a file, and the root file system is read-only: mount a volume for it by extraVolumes and extraVolumeMounts" -}}
{{- end -}}
{{- end -}}
{{- if and $v.tests.namespace $v.evidence.namespaces (not (has $v.tests.namespace $v.evidence.namespaces)) -}}
{{- $wrong = append $wrong "tests.namespace must be one of evidence.namespaces: the gate is not asked about others" -}}
{{- end -}}
{{- if and $v.tests.namespace (has $v.tests.namespace (list .Release.Namespace "kube-system" | concat $v.webhook.excludeNamespaces)) -}}
{{- $wrong = append $wrong "tests.namespace is a namespace that the gate is not asked about" -}}
{{- end -}}
{{- if $wrong -}}
{{- fail (printf "\n\nThese values do not go together:\n- %s\n" (join "\n- " $wrong)) -}}
{{- end -}}
{{- end -}}
