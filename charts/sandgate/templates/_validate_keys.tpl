{{/*
Values with which no judged pod could ever be admitted: fewer keys or signatures than the threshold, or a gate that cannot work.
Each template here gives a list of sentences as JSON.
*/}}

{{/* The PEM text without line breaks: two ids with the same key count once. */}}
{{- define "sandgate.keyNumbers" -}}
{{- regexReplaceAll "-----[A-Z ]+-----|[[:space:]]" . "" -}}
{{- end -}}

{{/* How many different keys count: (dict "keys" keyring.keys "ids" list). */}}
{{- define "sandgate.countKeys" -}}
{{- $numbers := list -}}
{{- range $id := .ids -}}
{{- with get $.keys $id -}}{{- $numbers = append $numbers (include "sandgate.keyNumbers" .) -}}{{- end -}}
{{- end -}}
{{- len (uniq $numbers) -}}
{{- end -}}

{{/*
For each kind of document: ids of the keys that count for it, how many different keys these are, how many are needed, and the
value that says so. With keyring.existingConfigMap the chart does not know the keys: "known" is then false where the kind names none.
*/}}
{{- define "sandgate.signers" -}}
{{- $v := .Values -}}
{{- $found := dict -}}
{{- range $kind := list "SandboxRequirements" "SandboxBaseline" "SandboxExemption" -}}
{{- $signers := default dict (get (default dict $v.config.keyring.kinds) $kind) -}}
{{- $own := hasKey $signers "keys" -}}
{{- $ids := $own | ternary (default list $signers.keys) (keys (default dict $v.keyring.keys)) -}}
{{- $count := len (uniq $ids) -}}
{{- if $v.keyring.keys -}}
{{- $count = include "sandgate.countKeys" (dict "keys" $v.keyring.keys "ids" $ids) | int -}}
{{- end -}}
{{- $general := not (hasKey $signers "threshold") -}}
{{- $needed := $general | ternary $v.config.keyring.threshold $signers.threshold | int -}}
{{- $_ := set $found $kind (dict "ids" $ids "count" $count "needed" $needed "own" $own "general" $general "known" (or $own (not (empty $v.keyring.keys)))) -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{- define "sandgate.validate.thresholds" -}}
{{- $v := .Values -}}
{{- $wrong := list -}}
{{- $remedy := "no document of the kind could be valid; two ids with the same key count once; add keys or lower the threshold" -}}
{{- range $kind, $s := include "sandgate.signers" . | fromJson -}}
{{- $count := int $s.count -}}
{{- $needed := int $s.needed -}}
{{- /* An empty list is a way to accept no exemption, or no baseline as long as none is required. */ -}}
{{- $none := and $s.own (empty $s.ids) (or (eq $kind "SandboxExemption") (and (eq $kind "SandboxBaseline") (eq 0 (int $v.config.evidence.minBaselines)))) -}}
{{- if and $s.known (not $none) (lt $count $needed) -}}
{{- if and $s.general (not $s.own) -}}
{{- $wrong = append $wrong (printf "config.keyring.threshold is %d, but keyring.keys has only %d: no document could be valid, and every judged pod would be denied; two ids with the same key count once; add keys or lower the threshold" $needed $count) -}}
{{- else if $s.own -}}
{{- $wrong = append $wrong (printf "config.keyring.kinds.%s needs %d signatures, but has only %d keys: %s" $kind $needed $count $remedy) -}}
{{- else -}}
{{- $wrong = append $wrong (printf "config.keyring.kinds.%s.threshold is %d, but keyring.keys has only %d: %s" $kind $needed $count $remedy) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- uniq $wrong | toJson -}}
{{- end -}}

{{/* A document in the values that too few of the known keys have signed. An invalid baseline denies every judged pod. */}}
{{- define "sandgate.validate.documents" -}}
{{- $v := .Values -}}
{{- $wrong := list -}}
{{- $signers := include "sandgate.signers" . | fromJson -}}
{{- range $name, $evidence := $v.evidence.documents -}}
{{- $kind := get (fromYaml $evidence.document) "kind" | toString -}}
{{- if and $v.keyring.keys (hasKey $signers $kind) -}}
{{- $s := get $signers $kind -}}
{{- $ids := list -}}
{{- range $id := keys $evidence.signatures -}}{{- if has $id $s.ids -}}{{- $ids = append $ids $id -}}{{- end -}}{{- end -}}
{{- $count := include "sandgate.countKeys" (dict "keys" $v.keyring.keys "ids" $ids) | int -}}
{{- if lt $count (int $s.needed) -}}
{{- $wrong = append $wrong (printf "evidence.documents.%s has signatures of %d different keys that count for a %s, but %d are needed: it would never be valid; add signatures, or their keys to keyring.keys" $name $count $kind (int $s.needed)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $wrong -}}
{{- end -}}

{{/* A gate that would never be ready, and limits below the size of any review. */}}
{{- define "sandgate.validate.reach" -}}
{{- $v := .Values -}}
{{- $wrong := list -}}
{{- $policy := $v.networkPolicy -}}
{{- if and $policy.enabled (not $v.hostNetwork) (kindIs "slice" $policy.egress) (empty $policy.egress) (include "sandgate.asksCluster" .) -}}
{{- $wrong = append $wrong "networkPolicy.egress is an empty list, so the gate could not reach the API server and would never be ready: allow the API server, or set null for no limit" -}}
{{- end -}}
{{- if and $v.hostNetwork (eq (toString $v.hostUsers) "false") -}}
{{- $wrong = append $wrong "hostUsers is false and hostNetwork is true: the API server refuses such pods; set one of them otherwise" -}}
{{- end -}}
{{- if lt (int64 $v.config.limits.maxBodyBytes) 16384 -}}
{{- $wrong = append $wrong "config.limits.maxBodyBytes is less than 16384: reviews of ordinary pods are larger, and all of them would be refused" -}}
{{- end -}}
{{- if and $v.resourceQuota.enabled (hasPrefix "system-" (include "sandgate.priorityClass" .)) (le (int $v.resourceQuota.pods) (include "sandgate.mostReplicas" . | int)) -}}
{{- $wrong = append $wrong "resourceQuota.pods must be more than the number of gates (replicaCount or autoscaling.maxReplicas): an update starts a new gate before it stops an old one" -}}
{{- end -}}
{{- toJson $wrong -}}
{{- end -}}
