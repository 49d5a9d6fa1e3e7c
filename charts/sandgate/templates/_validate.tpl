{{/* Checks that the schema cannot express: values that contradict each other. One error lists all contradictions. */}}
{{- define "sandgate.validate" -}}
{{- $v := .Values -}}
{{- $runs := include "sandgate.runs" . -}}
{{- $wrong := list -}}
{{- if and $runs (not $v.keyring.keys) (not $v.keyring.existingConfigMap) -}}
{{- $wrong = append $wrong "no trusted key is set, so the gate would not start: add one with --set-file keyring.keys.<key-id>=<file.pem>, or name a ConfigMap in keyring.existingConfigMap" -}}
{{- end -}}
{{- if and $v.keyring.keys $v.keyring.existingConfigMap -}}
{{- $wrong = append $wrong "keyring.keys and keyring.existingConfigMap are both set: put all keys in one of them" -}}
{{- end -}}
{{- range $check := eq $runs "true" | ternary (list "thresholds" "documents" "reach" "texts" "names" "certificates" "scaling" "pods") (list "texts" "names") -}}
{{- $wrong = include (printf "sandgate.validate.%s" $check) $ | fromJsonArray | concat $wrong -}}
{{- end -}}
{{- range $kind, $signers := $v.config.keyring.kinds -}}
{{- range $id := $signers.keys -}}
{{- if and $v.keyring.keys (not (hasKey $v.keyring.keys $id)) -}}
{{- $wrong = append $wrong (printf "config.keyring.kinds.%s names the key %s, which is not in keyring.keys" $kind $id) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "sandgate.fullname" .)) -}}
{{- $wrong = append $wrong (printf "%s cannot be the name of a Service: it must begin with a letter and must not contain dots; set fullnameOverride" (include "sandgate.fullname" .)) -}}
{{- end -}}
{{- if eq (include "sandgate.namespace" .) "kube-system" -}}
{{- $wrong = append $wrong "the gate must not be installed in kube-system: exemptions and baselines are valid in the gate's namespace, so anyone who can write there could make them; install it in a separate namespace" -}}
{{- end -}}
{{- if has (include "sandgate.namespace" .) (list "default" "kube-public" "kube-node-lease") -}}
{{- $wrong = append $wrong (printf "the gate must not be installed in %s: its pods would not be judged, and exemptions and baselines of anyone who can write there would be valid in the whole cluster; name a separate namespace with -n (--namespace), and with --create-namespace if it does not exist" (include "sandgate.namespace" .)) -}}
{{- end -}}
{{- if and (eq $v.evidence.source "directory") (not $v.evidence.directory) -}}
{{- $wrong = append $wrong "evidence.source is directory, so evidence.directory must be the path of a directory, mounted by extraVolumes and extraVolumeMounts" -}}
{{- end -}}
{{- if and (eq $v.evidence.source "cluster") $v.evidence.directory -}}
{{- $wrong = append $wrong "evidence.directory is only used with evidence.source: directory" -}}
{{- end -}}
{{- if and (eq $v.evidence.source "directory") $v.evidence.namespaces -}}
{{- $wrong = append $wrong "evidence.namespaces limits what the gate reads from the cluster, but evidence.source is directory" -}}
{{- end -}}
{{- range $namespace := list (include "sandgate.namespace" .) "kube-system" -}}
{{- if has $namespace $v.evidence.namespaces -}}
{{- $wrong = append $wrong (printf "evidence.namespaces contains %s, whose pods are never judged: remove it" $namespace) -}}
{{- end -}}
{{- end -}}
{{- range $namespace := $v.evidence.namespaces -}}
{{- if has $namespace $v.webhook.excludeNamespaces -}}
{{- $wrong = append $wrong (printf "%s is in both evidence.namespaces and webhook.excludeNamespaces: remove it from one of them" $namespace) -}}
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
{{- $wrong = append $wrong "tls.mode is secret, so the API server needs its CA: set it with --set-file webhook.caBundle=<ca.pem>, or add an annotation cert-manager.io/inject-… to webhook.annotations" -}}
{{- end -}}
{{- end -}}
{{- if and $runs (ne $v.tls.mode "secret") $v.webhook.caBundle -}}
{{- $wrong = append $wrong (printf "webhook.caBundle is only used with tls.mode secret or webhook.url: with tls.mode %s it is set automatically" $v.tls.mode) -}}
{{- end -}}
{{- if and (ne $v.tls.mode "secret") $v.tls.secret.name -}}
{{- $wrong = append $wrong "tls.secret.name is only used with tls.mode: secret" -}}
{{- end -}}
{{- if and $v.webhook.url (ne $v.tls.mode "self") -}}
{{- $wrong = append $wrong "webhook.url is a gate outside of the cluster, whose certificate the chart does not make: do not set tls.mode, and set the CA in webhook.caBundle" -}}
{{- end -}}
{{- if and $v.webhook.url (not $v.webhook.enabled) -}}
{{- $wrong = append $wrong "webhook.url is set and webhook.enabled is false: nothing would be installed" -}}
{{- end -}}
{{- if and $v.webhook.url (or $v.metrics.enabled $v.keyring.keys $v.keyring.existingConfigMap) -}}
{{- $wrong = append $wrong "webhook.url is a gate outside of the cluster: configure its keys and metrics there, not with keyring and metrics" -}}
{{- end -}}
{{- if and (eq $v.tls.mode "self") (gt (mul 3 (int $v.tls.self.certificateDays)) (int $v.tls.self.caDays)) -}}
{{- $wrong = append $wrong "tls.self.caDays must be at least three times tls.self.certificateDays" -}}
{{- end -}}
{{- if and $v.tls.clientCA (not $v.tls.clientNames) -}}
{{- $wrong = append $wrong "tls.clientCA needs tls.clientNames: without names, every client is rejected" -}}
{{- end -}}
{{- if and $v.tls.clientNames (not $v.tls.clientCA) -}}
{{- $wrong = append $wrong "tls.clientNames needs tls.clientCA: without a CA, no name is checked" -}}
{{- end -}}
{{- range $path, $seconds := dict "webhook.timeoutSeconds" $v.webhook.timeoutSeconds "webhook.templates.timeoutSeconds" $v.webhook.templates.timeoutSeconds -}}
{{- if ge (int $v.config.limits.deadlineMarginMilliseconds) (mul 1000 (int $seconds) | int) -}}
{{- $wrong = append $wrong (printf "config.limits.deadlineMarginMilliseconds must be less than %s" $path) -}}
{{- end -}}
{{- end -}}
{{- if lt (div (int64 $v.config.limits.maxInFlightBytes) 4) (int64 $v.config.limits.maxBodyBytes) -}}
{{- $wrong = append $wrong "a quarter of config.limits.maxInFlightBytes must be at least config.limits.maxBodyBytes" -}}
{{- end -}}
{{- $memory := dig "limits" "memory" nil $v.resources -}}
{{- if not (kindIs "invalid" $memory) -}}
{{- $least := include "sandgate.memoryMebibytes" . | int64 -}}
{{- $given := include "sandgate.bytes" $memory | int64 -}}
{{- if lt $given 0 -}}
{{- $wrong = append $wrong "resources.limits.memory must be a quantity such as 272Mi" -}}
{{- else if lt $given (mul 1048576 $least) -}}
{{- $wrong = append $wrong (printf "resources.limits.memory must be at least %dMi: config.limits.maxInFlightBytes, 80 KiB for each of config.limits.maxConnections, evidence.memory, and 32 MiB; otherwise the kubelet can end a gate under load: raise it, leave it out, or lower one of the others" $least) -}}
{{- end -}}
{{- end -}}
{{- $pdb := $v.podDisruptionBudget -}}
{{- if and (not (kindIs "invalid" $pdb.minAvailable)) (not (kindIs "invalid" $pdb.maxUnavailable)) -}}
{{- $wrong = append $wrong "podDisruptionBudget can have minAvailable or maxUnavailable, not both" -}}
{{- end -}}
{{- if not (kindIs "invalid" $v.terminationGracePeriodSeconds) -}}
{{- $least := add (int $v.preStopSleepSeconds) (int $v.config.drainSeconds) 10 -}}
{{- if lt (int $v.terminationGracePeriodSeconds) (int $least) -}}
{{- $wrong = append $wrong (printf "terminationGracePeriodSeconds must be at least %d: the sum of preStopSleepSeconds, config.drainSeconds and 10 s for requests in flight; otherwise requests are lost" (int $least)) -}}
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
{{- $wrong = append $wrong (printf "metrics.%s.enabled needs metrics.enabled: otherwise the port listens on loopback and cannot be scraped" $what) -}}
{{- end -}}
{{- end -}}
{{- if and $v.metrics.serviceMonitor.enabled $v.metrics.podMonitor.enabled -}}
{{- $wrong = append $wrong "metrics.serviceMonitor and metrics.podMonitor are both enabled: every metric would be scraped twice" -}}
{{- end -}}
{{- if not (has $v.config.decisionLog.path (list "-" "/dev/null")) -}}
{{- $mounted := false -}}
{{- range $v.extraVolumeMounts -}}
{{- if hasPrefix (printf "%s/" (clean .mountPath | trimSuffix "/")) (clean $v.config.decisionLog.path) -}}{{- $mounted = true -}}{{- end -}}
{{- end -}}
{{- if not $mounted -}}
{{- $wrong = append $wrong "config.decisionLog.path is a file, and the root file system is read-only: mount a volume for it with extraVolumes and extraVolumeMounts" -}}
{{- end -}}
{{- end -}}
{{- if and $v.tests.namespace $v.evidence.namespaces (not (has $v.tests.namespace $v.evidence.namespaces)) -}}
{{- $wrong = append $wrong "tests.namespace must be one of evidence.namespaces: pods in other namespaces are not sent to the gate" -}}
{{- end -}}
{{- if and $v.tests.namespace (has $v.tests.namespace (list (include "sandgate.namespace" .) "kube-system" | concat (default list $v.webhook.excludeNamespaces))) -}}
{{- $wrong = append $wrong "tests.namespace is a namespace whose pods are not sent to the gate" -}}
{{- end -}}
{{- if $wrong -}}
{{- fail (printf "\n\nThese values contradict each other:\n- %s\n" (join "\n- " $wrong)) -}}
{{- end -}}
{{- end -}}
