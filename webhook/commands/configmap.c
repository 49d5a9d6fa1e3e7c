/* SPDX-License-Identifier: Apache-2.0 */
/* configmap - reads the evidence in the manifest of a ConfigMap. */

#include "webhook/commands/configmap.h"

#include "k8s/policy/names.h"
#include "planner/base/tree.h"

bool configmap_read(const cJSON *object, struct evidence_source *ret_source, bool *ret_labelled)
{
    const cJSON *metadata = NULL;
    struct str namespace_name = {0};

    if (!cJSON_IsObject(object) || !str_equal(tree_get_text(object, "kind"), STR("ConfigMap")) ||
        !str_equal(tree_get_text(object, "apiVersion"), STR("v1")))
        return false;
    metadata = tree_get(object, "metadata");
    namespace_name = tree_get_text(metadata, "namespace");
    *ret_source = (struct evidence_source){
        .namespace_name = namespace_name.len > 0 ? namespace_name : STR("default"),
        .name = tree_get_text(metadata, "name"),
        .annotations = tree_get(metadata, "annotations"),
        .document = tree_get_text(tree_get(object, "data"), EVIDENCE_DATA_KEY),
        .in_binary_data = tree_get(tree_get(object, "binaryData"), EVIDENCE_DATA_KEY) != NULL,
        .binary = tree_get_text(tree_get(object, "binaryData"), EVIDENCE_DATA_KEY),
    };
    *ret_labelled =
        str_equal(tree_get_text(tree_get(metadata, "labels"), NAMES_LABEL_EVIDENCE), STR("true"));
    return true;
}

struct str configmap_key_id(struct str annotation)
{
    struct str prefix = STR(EVIDENCE_SIGNATURE_PREFIX);

    if (!str_starts_with(annotation, prefix))
        return (struct str){0};
    return (struct str){.ptr = annotation.ptr + prefix.len, .len = annotation.len - prefix.len};
}
