# SPDX-License-Identifier: Apache-2.0
"""RFC 3339 moments, to the nanosecond (hardening-v1, section 3)."""

import datetime
import re

FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:Z|([-+])([0-9]{2}):([0-9]{2}))\Z", re.ASCII)
SECOND = 10**9
DAY = 86400 * SECOND
EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()


def read_moment(text):
    """Nanoseconds since 1970, or None if the text is not a valid time."""
    match = FORM.match(text)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, sign, offset_hour, offset_minute = match.groups()[6:]
    try:
        days = datetime.date(year, month, day).toordinal() - EPOCH_ORDINAL
    except ValueError:
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    seconds = days * 86400 + hour * 3600 + minute * 60 + second
    if sign:
        if int(offset_hour) > 23 or int(offset_minute) > 59:
            return None
        offset = int(offset_hour) * 3600 + int(offset_minute) * 60
        seconds -= offset if sign == "+" else -offset
    return seconds * SECOND + int((fraction or "").ljust(9, "0"))


def write_moment(nanoseconds):
    """Whole seconds in UTC with Z, without the fraction (gate-v1, section 5)."""
    seconds = nanoseconds // SECOND
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return f"{moment.year:04}" + moment.strftime("-%m-%dT%H:%M:%SZ")
