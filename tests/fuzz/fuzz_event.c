/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_event - reads the bytes as lines of a log. A line that the quick check skips contains no
 * decision. A line that is read can be added to a report, written and replayed. Output is JSON
 * without control characters.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "k8s/document/document.h"
#include "webhook/audit/event.h"
#include "webhook/audit/replay.h"
#include "webhook/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_written(const struct report *report)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW};
    struct arena cleanup_arena arena = {0};
    struct document_error error = {0};
    cJSON *tree = NULL;
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);

    must(stream != NULL && report_json(report, stream) == 0 && fflush(stream) == 0);
    must(document_read((struct str){text, len}, &options, &arena, &tree, &error) == 0);
    for (size_t i = 0; i < len; i++)
        must(((unsigned char)text[i] >= ' ' || text[i] == '\n') && text[i] != '<' &&
             text[i] != 0x7f);
    must(report_csv(report, stream) == 0);
    must(fclose(stream) == 0);
    free(text);
}

/* A reading has a state for each control, or none at all. */
static void check_boundary(const struct event *event)
{
    bool read = event->boundary.state == EVENT_BOUNDARY_READ;

    must(str_present(event->boundary_json) == read);
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        enum boundary_state state = event->boundary.states[i];

        must((state != BOUNDARY_UNREAD) == read && state <= BOUNDARY_CONTRADICTED);
    }
}

/* Each workload has one state of each control. */
static void check_sums(const struct report_boundary *boundary)
{
    must(boundary->workload_count <= REPORT_MAX_WORKLOADS &&
         boundary->namespace_count <= REPORT_MAX_NAMESPACES);
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        uint64_t sum = 0;

        for (int k = BOUNDARY_HELD; k <= BOUNDARY_CONTRADICTED; k++)
            sum += boundary->controls[i][k];
        must(sum == boundary->workload_count);
    }
}

static void check_line(struct report *report, struct str line)
{
    struct arena cleanup_arena arena = {0};
    enum event_kind kind = EVENT_BLANK, glance = EVENT_BLANK;
    struct events events = {.count = 0};
    bool may_matter = event_may_matter(line, &glance);
    int r = event_read(line, &arena, &events, &kind);

    must(r == 0 && events.count <= EVENT_MAX_HOOKS);
    must((events.count > 0) == (kind == EVENT_AUDIT || kind == EVENT_RECORD));
    must(may_matter || events.count == 0);
    for (size_t i = 0; i < events.count; i++) {
        const struct report_row *row = NULL;
        struct event_expiry expiries[EVENT_MAX_EXPIRIES];
        bool passed = false;

        must(events.items[i].finding_count <= EVENT_MAX_FINDINGS);
        check_boundary(&events.items[i]);
        must(event_expiries(&events.items[i], expiries) <= EVENT_MAX_EXPIRIES);
        must(report_add(report, &events.items[i], &arena, &row, &passed) == 0);
    }
    report_count_text(report, kind);
    unread_count(&report->totals.unread, kind, "x", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size};
    struct report cleanup_report report = {0};

    must(report_init(&report) == 0);
    report.replay = true;
    report.filter.allowed = true;
    while (rest.len > 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t len = end != NULL ? (size_t)(end - rest.ptr) : rest.len;

        check_line(&report, (struct str){rest.ptr, len});
        rest.ptr += end != NULL ? len + 1 : len;
        rest.len -= end != NULL ? len + 1 : len;
    }
    report_finish(&report);
    check_sums(&report.boundary);
    check_written(&report);
    return 0;
}
