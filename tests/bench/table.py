#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the measurements of tests/bench/run as tables of ratios.

Usage: table.py PEAK HALF                 lines "server requests-per-second p50 p99 bad"; exits with 1 if the
                                          gate is too slow in comparison with nginx
       table.py --pause CONNECTIONS PEAK  milliseconds between requests for half of the gate's peak
"""
import statistics
import sys

OF_NGINX = 0.5
OF_GO = 5
P99_OF_NGINX = 3


def read(path):
    """{server: {"rate": [...], "p50": [...], "p99": [...], "bad": [...]}}"""
    servers = {}
    with open(path, encoding="ascii") as stream:
        for line in stream:
            name, *numbers = line.split()
            columns = servers.setdefault(name, {"rate": [], "p50": [], "p99": [], "bad": []})
            for key, number in zip(columns, numbers, strict=True):
                columns[key].append(float(number))
    return servers


def median(servers, name, key):
    return statistics.median(servers[name][key])


def row(what, value, bound, good):
    print(f"  {what:<58} {value:>10}   {bound:<9} {'holds' if good else 'MISSED'}")


def ratio_row(what, value, bound, at_least):
    row(what, f"{value:.2f}", f"{'>=' if at_least else '<'} {bound}", value >= bound if at_least else value < bound)


def servers_rows(servers, load):
    for name, columns in servers.items():
        print(f"  {name:<8} {median(servers, name, 'rate'):>12.0f} {median(servers, name, 'p50'):>10.0f} "
              f"{median(servers, name, 'p99'):>10.0f} {sum(columns['bad']):>5.0f}   "
              f"{load}; {min(columns['rate']):.0f} to {max(columns['rate']):.0f}")


def table(peak, half):
    """Prints both tables. Returns the ratio of the requests per second of the gate and of nginx."""
    print(f"\n  {'':<8} {'requests/s':>12} {'p50 us':>10} {'p99 us':>10} {'bad':>5}   medians of the rounds")
    servers_rows(peak, "full speed")
    servers_rows(half, "half of the gate's peak")
    gate = median(peak, "gate", "rate")
    of_nginx = gate / median(peak, "nginx", "rate")
    print(f"\n  {'ratio':<58} {'measured':>10}   bound")
    ratio_row("requests a second, gate to nginx", of_nginx, OF_NGINX, True)
    if "go" in peak:
        ratio_row("requests a second, gate to the webhook in Go", gate / median(peak, "go", "rate"), OF_GO, True)
    ratio_row("99th percentile at half of the gate's peak, gate to nginx",
              median(half, "gate", "p99") / median(half, "nginx", "p99"), P99_OF_NGINX, False)
    bad = sum(sum(columns["bad"]) for columns in [*peak.values(), *half.values()])
    row("requests failed or refused", f"{bad:.0f}", "0", bad == 0)
    return of_nginx


def main():
    if sys.argv[1] == "--pause":
        gate = median(read(sys.argv[3]), "gate", "rate")
        print(max(1, round(int(sys.argv[2]) / (gate / 2) * 1000)))
        return 0
    return 0 if table(read(sys.argv[1]), read(sys.argv[2])) >= OF_NGINX else 1


if __name__ == "__main__":
    sys.exit(main())
