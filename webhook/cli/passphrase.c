/* SPDX-License-Identifier: Apache-2.0 */
/* passphrase - reads the passphrase of a private key. */

#include "webhook/cli/passphrase.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "k8s/util/file.h"
#include "webhook/cli/output.h"

#define KEY_INTERRUPT 0x03 /* Ctrl-C */
#define KEY_END 0x04       /* Ctrl-D */
#define KEY_BACKSPACE 0x08
#define KEY_DELETE 0x7f

void passphrase_wipe(struct passphrase *passphrase)
{
    explicit_bzero(passphrase, sizeof(*passphrase));
}

int passphrase_read_file(const char *path, struct passphrase *ret_passphrase)
{
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    int r = fd < 0
                ? -errno
                : file_read_full(fd, ret_passphrase->text, sizeof(ret_passphrase->text) - 1, &len);

    if (r < 0) {
        output_error("%s: %s", path, strerror(-r));
        return r;
    }
    ret_passphrase->text[len] = '\0';
    ret_passphrase->text[strcspn(ret_passphrase->text, "\r\n")] = '\0';
    return 0;
}

int passphrase_read_environment(const char *name, struct passphrase *ret_passphrase)
{
    char *value = getenv(name);
    size_t len = value != NULL ? strlen(value) : 0;

    if (value == NULL) {
        output_error("the environment variable %s is not set", name);
        return -ENOENT;
    }
    if (len >= sizeof(ret_passphrase->text)) {
        output_error("%s: the passphrase is longer than %zu bytes", name,
                     sizeof(ret_passphrase->text) - 1);
        return -E2BIG;
    }
    memcpy(ret_passphrase->text, value, len + 1);
    explicit_bzero(value, len); /* the environment of a process stays readable until it ends */
    return 0;
}

/* Reads one line, key by key: in this mode the terminal neither echoes nor interprets keys. */
static int read_keys(int fd, struct passphrase *passphrase)
{
    size_t len = 0;

    for (;;) {
        unsigned char key = 0;
        ssize_t n = read(fd, &key, 1);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || key == KEY_INTERRUPT)
            return -ECANCELED;
        if (key == '\n' || key == '\r' || key == KEY_END)
            break;
        if (key == KEY_BACKSPACE || key == KEY_DELETE)
            len -= len > 0;
        else if (len < sizeof(passphrase->text) - 1)
            passphrase->text[len++] = (char)key;
        else
            return -E2BIG;
    }
    passphrase->text[len] = '\0';
    return 0;
}

int passphrase_ask(const char *key_file, struct passphrase *ret_passphrase)
{
    cleanup_fd int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    struct termios before, silent;
    int r = 0;

    if (fd < 0 || tcgetattr(fd, &before) != 0) {
        output_error(
            "%s: the key is encrypted, and there is no terminal to ask for its passphrase; "
            "use --passphrase-file or --passphrase-env",
            key_file);
        return -ENXIO;
    }
    silent = before;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG);
    silent.c_cc[VMIN] = 1;
    silent.c_cc[VTIME] = 0;
    if (tcsetattr(fd, TCSAFLUSH, &silent) != 0)
        return -EIO;
    dprintf(fd, "Passphrase of %s: ", key_file);
    r = read_keys(fd, ret_passphrase);
    (void)tcsetattr(fd, TCSAFLUSH, &before);
    dprintf(fd, "\n");
    if (r == -E2BIG)
        output_error("the passphrase is longer than %zu bytes", sizeof(ret_passphrase->text) - 1);
    return r;
}
