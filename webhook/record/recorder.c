/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder - makes the record of an exchange once and passes it to the log and the page.
 */

#include "webhook/record/recorder.h"

int recorder_init(struct recorder *recorder, struct decision_log *log)
{
    recorder->log = log;
    atomic_init(&recorder->allowed, false);
    return denials_init(&recorder->denials);
}

void recorder_done(struct recorder *recorder)
{
    denials_done(&recorder->denials);
}

static bool is_denial(const struct exchange *exchange)
{
    return exchange->undecided != 0 || (exchange->decided && !exchange->decision.allowed);
}

bool recorder_wants(const struct recorder *recorder, const struct exchange *exchange)
{
    if (recorder == NULL)
        return false;
    return is_denial(exchange) ||
           (exchange->decided && atomic_load_explicit(&recorder->allowed, memory_order_relaxed));
}

void recorder_note(struct recorder *recorder, const struct exchange *exchange,
                   const struct record_circumstances *circumstances, struct arena *arena)
{
    struct record_line *line = NULL;
    struct str text = {0};
    int r = exchange->undecided != 0
                ? record_write_unavailable(exchange->undecided, exchange->undecided_message,
                                           &exchange->decision, &exchange->review, circumstances,
                                           arena, &text)
                : record_write(&exchange->decision, &exchange->review, circumstances, arena, &text);

    if (r == 0)
        line = record_line_new(text);
    if (line == NULL) {
        decision_log_lose(recorder->log);
        return;
    }
    decision_log_put(recorder->log, line);
    if (is_denial(exchange))
        denials_put(&recorder->denials, line);
    record_line_unref(line);
}
