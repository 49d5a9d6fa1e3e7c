{{/*
Which requests the API server sends to the gate. The gate would decide the same without these selectors and conditions. They
avoid calls whose answer is known in advance, so that these requests do not wait for the gate or depend on it.

A pod is managed if it has a sandbox.runx.dev annotation, or had one before an update. A matchCondition can check that, but
not the labels of the namespace (matchConditions have no namespaceObject); a namespaceSelector can check the labels, but has
no "or". So there is one entry for managed pods in all namespaces, and one entry for each way in which a namespace can
require the other pods. No two entries match the same request, except in a namespace that has both an `enforce` label with
an unknown value and `warn: required` or `audit: required`.
*/}}

{{/* The annotation maps of the object o: those of a pod, or of a controller and its pod template. */}}
{{- define "sandgate.cel.annotations" -}}
[o.?metadata.?annotations,
 o.?template.?metadata.?annotations,
 o.?spec.?template.?metadata.?annotations,
 o.?spec.?jobTemplate.?spec.?template.?metadata.?annotations]
{{- end -}}

{{- define "sandgate.cel.managed" -}}
[object, oldObject].exists(o, o != null &&
{{ include "sandgate.cel.annotations" . }}
.exists(m, m.orValue({}).exists(k, k.lowerAscii().startsWith('sandbox.runx.dev/'))))
{{- end -}}

{{/*
True if an update changes the spec of a controller's pod template, one of a pod's four lists of images, in order, or a
sandbox.runx.dev annotation. An object that cannot be read counts as changed. The spec of a template has the images too, and is
compared as a whole, however large: the API server counts the same cost for any two trees. Whether the gate reads the spec
depends on labels of the namespace and on baselines, which a condition does not see. Of a pod, no other field that the gate reads
can change.
*/}}
{{- define "sandgate.cel.changed" -}}
request.operation != 'UPDATE' || object == null || oldObject == null ||
[[object, oldObject].map(o,
[o.?template.?spec,
 o.?spec.?template.?spec,
 o.?spec.?jobTemplate.?spec.?template.?spec])]
.exists(x, x[0] != x[1]) ||
[[object, oldObject].map(o, o.?spec)
.map(s, [
 s.?containers.orValue([]).map(c, c.?image.orValue('')),
 s.?initContainers.orValue([]).map(c, c.?image.orValue('')),
 s.?ephemeralContainers.orValue([]).map(c, c.?image.orValue('')),
 s.?volumes.orValue([]).filter(v, has(v.image)).map(v, v.image.?reference.orValue(''))])]
.exists(x, x[0] != x[1]) ||
[[object, oldObject].map(o,
{{ include "sandgate.cel.annotations" . }}
.map(m, m.orValue({})))]
.exists(x, [0, 1, 2, 3].exists(i, x[0][i] != x[1][i] && (
 x[0][i].exists(k, k.lowerAscii().startsWith('sandbox.runx.dev/') && (!(k in x[1][i]) || x[0][i][k] != x[1][i][k])) ||
 x[1][i].exists(k, k.lowerAscii().startsWith('sandbox.runx.dev/') && !(k in x[0][i])))))
{{- end -}}

{{/*
False for a mirror pod, by which a kubelet reports a static pod that it already runs. All three signs of one are required:
the user, the group and the annotation.
*/}}
{{- define "sandgate.cel.noMirrorPod" -}}
!(request.operation == 'CREATE' && request.kind.kind == 'Pod' &&
request.userInfo.username.startsWith('system:node:') &&
'system:nodes' in request.userInfo.?groups.orValue([]) &&
'kubernetes.io/config.mirror' in object.?metadata.?annotations.orValue({}))
{{- end -}}

{{/* "true" if this level is `required` by default or by the floor. Every pod is then judged, and one entry covers managed and other pods. */}}
{{- define "sandgate.requiredBy" -}}
{{- $default := get .root.Values.config.defaults .level -}}
{{- $floor := get .root.Values.config.floor .level -}}
{{- if or (eq $default "required") (eq $floor "required") -}}true{{- end -}}
{{- end -}}

{{- define "sandgate.rules.pods" -}}
- apiGroups: [""]
  apiVersions: [v1]
  resources: [pods, pods/ephemeralcontainers]
  operations: [CREATE, UPDATE]
  scope: Namespaced
{{- end -}}

{{- define "sandgate.rules.templates" -}}
- apiGroups: [""]
  apiVersions: [v1]
  resources: [podtemplates, replicationcontrollers]
  operations: [CREATE, UPDATE]
  scope: Namespaced
- apiGroups: [apps]
  apiVersions: [v1]
  resources: [replicasets, deployments, statefulsets, daemonsets]
  operations: [CREATE, UPDATE]
  scope: Namespaced
- apiGroups: [batch]
  apiVersions: [v1]
  resources: [jobs, cronjobs]
  operations: [CREATE, UPDATE]
  scope: Namespaced
{{- end -}}

{{/* One entry: (dict "root" $ "name" … "pods" bool "templates" bool "managed" "true", "false" or "" "select" list …). */}}
{{- define "sandgate.webhook" -}}
{{- $values := .root.Values -}}
{{- $excluded := list (include "sandgate.namespace" .root) "kube-system" | concat (default list $values.webhook.excludeNamespaces) | uniq | sortAlpha -}}
{{- $expressions := list (dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" $excluded) -}}
{{- with $values.evidence.namespaces -}}
{{- $expressions = append $expressions (dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" .) -}}
{{- end -}}
{{- $expressions = concat $expressions .select (default list (default dict $values.webhook.namespaceSelector).matchExpressions) -}}
- name: {{ .name }}
  clientConfig:
    {{- if $values.webhook.url }}
    url: {{ $values.webhook.url | quote }}
    {{- else }}
    service:
      namespace: {{ include "sandgate.namespace" .root | quote }}
      name: {{ include "sandgate.fullname" .root | quote }}
      port: {{ $values.service.port }}
      path: /validate
    {{- end }}
    {{- if and $values.webhook.caBundle (or $values.webhook.url (eq $values.tls.mode "secret")) }}
    caBundle: {{ $values.webhook.caBundle | b64enc }}
    {{- end }}
  rules:
    {{- if .pods }}
    {{- include "sandgate.rules.pods" . | nindent 4 }}
    {{- end }}
    {{- if .templates }}
    {{- include "sandgate.rules.templates" . | nindent 4 }}
    {{- end }}
  failurePolicy: {{ .failurePolicy }}
  matchPolicy: Equivalent
  sideEffects: None
  admissionReviewVersions: [v1]
  timeoutSeconds: {{ .timeoutSeconds }}
  namespaceSelector:
    {{- with (default dict $values.webhook.namespaceSelector).matchLabels }}
    matchLabels:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    matchExpressions:
      {{- toYaml $expressions | nindent 6 }}
  objectSelector:
    {{- toYaml (default dict $values.webhook.objectSelector) | nindent 4 }}
  matchConditions:
    - name: changed
      expression: |-
        {{- include "sandgate.cel.changed" . | nindent 8 }}
    {{- if .pods }}
    - name: no-mirror-pod
      expression: |-
        {{- include "sandgate.cel.noMirrorPod" . | nindent 8 }}
    {{- end }}
    {{- if eq .managed "true" }}
    - name: managed
      expression: |-
        {{- include "sandgate.cel.managed" . | nindent 8 }}
    {{- else if eq .managed "false" }}
    - name: unmanaged
      expression: |-
        !({{ include "sandgate.cel.managed" . | nindent 8 | trim }})
    {{- end }}
    {{- with $values.webhook.matchConditions }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
