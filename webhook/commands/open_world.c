#include "webhook/commands/open_world.h"

#include <string.h>
#include <time.h>

#include "webhook/commands/output.h"

int open_world(const char *config, const char *evidence, const char *keyring,
               struct open_world *ret_open)
{
    const struct world_overrides overrides = {
        .evidence_directory = evidence,
        .keyring_directory = keyring,
    };
    struct world_report report = {0};
    int r = world_open(config, &overrides, &ret_open->world, &report);

    if (r != 0 && report.reason_count == 0)
        complain("%s", strerror(-r));
    for (size_t i = 0; r != 0 && i < report.reason_count; i++)
        complain("%.*s", (int)report.reasons[i].len, report.reasons[i].ptr);
    world_report_done(&report);
    if (r != 0)
        return r;
    ret_open->snapshot = world_snapshot(ret_open->world);
    ret_open->config = world_config(ret_open->world);
    return 0;
}

void open_world_done(struct open_world *open)
{
    snapshot_unref(open->snapshot);
    config_unref(open->config);
    world_free(open->world);
    *open = (struct open_world){0};
}

bool open_world_moment(const char *text, struct moment *ret_moment)
{
    struct timespec now = {0};

    if (text != NULL)
        return moment_read(str_of(text), ret_moment);
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    *ret_moment = (struct moment){.sec = (int64_t)now.tv_sec + MOMENT_UNIX_EPOCH_SEC,
                                  .nsec = (int32_t)now.tv_nsec};
    return true;
}
