-- SPDX-License-Identifier: Apache-2.0
-- Script of wrk: posts the review in BENCH_BODY as the API server does. With BENCH_DELAY_MS, a connection waits that
-- long on average (plus or minus a third) between requests. With BENCH_BODIES, a number, there are that many files whose
-- names are BENCH_BODY followed by -0, -1, ..., and a random one is posted. There is no response(), which would slow wrk down.
local file = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, */*"
file:close()

local pause = tonumber(os.getenv("BENCH_DELAY_MS") or "0")
if pause > 0 then
    function delay()
        return math.random(math.floor(pause * 2 / 3), math.ceil(pause * 4 / 3))
    end
end

local bodies = tonumber(os.getenv("BENCH_BODIES") or "0")
if bodies > 0 then
    local requests = {}
    function init()
        for i = 1, bodies do
            local one = assert(io.open((os.getenv("BENCH_BODY"):gsub("0$", tostring(i - 1))), "rb"))
            requests[i] = wrk.format(nil, nil, nil, one:read("*a"))
            one:close()
        end
    end
    function request()
        return requests[math.random(#requests)]
    end
end

function done(summary, latency)
    local errors = summary.errors
    print(string.format("RESULT %.1f %d %d %d", summary.requests * 1e6 / summary.duration,
        latency:percentile(50), latency:percentile(99),
        errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
