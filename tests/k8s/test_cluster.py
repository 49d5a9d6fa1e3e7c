# SPDX-License-Identifier: Apache-2.0
"""The cluster source with an API server that makes the errors which a test chooses."""

import contextlib
import errno
import hashlib
import json
import threading
import time
import unittest

from api_server import answer, certificates, forget_certificates
from cluster_server import DOCUMENT, OWN, Api, Gate, evidence, keyring, namespace, refusal, status

VALID = {OWN + "/a": "valid"}


def tearDownModule():
    forget_certificates()


def world():
    api = Api()
    api.put("namespaces", namespace(OWN))
    api.put("namespaces", namespace("payments", "required"))
    api.put("configmaps", evidence(OWN, "a"))
    return api


class Following(unittest.TestCase):
    def test_lists_then_watches(self):
        with world() as api, Gate(api).ready() as gate:
            self.assertEqual(gate.evidence(), VALID)
            self.assertEqual(gate.show("payments", OWN, "none")["namespaces"],
                             {"payments": "required", OWN: "", "none": None})
            api.put("configmaps", evidence("payments", "b"))
            gate.shows({**VALID, "payments/b": "valid"})
            api.put("configmaps", evidence("payments", "b", keys=()))
            gate.shows({**VALID, "payments/b": "invalid"})
            self.assertEqual(gate.events("unreadable")[0]["what"], "payments/b")
            api.delete("configmaps", "payments", "b")
            gate.shows(VALID)
            api.put("namespaces", namespace("payments", "none"))
            gate.until(lambda: gate.show("payments")["namespaces"]["payments"] == "none")
            self.assertEqual({n["what"] for n in gate.events("listed")}, {"configmaps", "namespaces"})
            self.assertEqual(gate.look()["relists"], 0)
            self.assertEqual(gate.look()["failures"], 0)
            first = api.paths("/api/v1/configmaps")
            self.assertEqual(first[0], "/api/v1/configmaps?limit=100&resourceVersion=0"
                                       "&labelSelector=sandbox.runx.dev%2Fevidence%3Dtrue")
            self.assertIn("watch=true&allowWatchBookmarks=true&resourceVersion=103", first[1])

    def test_no_snapshot_before_all_first_lists(self):
        api = world()
        api.hook = lambda r: refusal(503, "not yet", "Retry-After: 1") if r.path.startswith("/api/v1/namespaces?") else None
        with api, Gate(api) as gate:
            gate.wait(lambda s: s.get("event") == "listed" and s["what"] == "configmaps")
            failed = gate.wait(lambda s: s.get("event") == "failed")
            self.assertIn("not yet", failed["reason"])
            self.assertFalse(gate.look()["ready"])
            self.assertIsNone(gate.evidence())
            api.hook = lambda r: None
            gate.ready()
            self.assertEqual(gate.wait(lambda s: s.get("event") == "recovered")["what"], "namespaces")

    def test_pages(self):
        api = world()
        for i in range(250):
            api.put("configmaps", evidence("payments", "x%03d" % i))
        with api, Gate(api).ready() as gate:
            self.assertEqual((len(gate.evidence()), gate.more("payments")), (2, [0, 0, 249]))
            self.assertEqual(len([p for p in api.paths("configmaps") if "limit=" in p]), 3)
            self.assertEqual(gate.look()["puts"], 1)

    def test_a_burst_of_events_makes_few_snapshots(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            with api.lock:  # so that all events arrive together
                for i in range(200):
                    api.put("configmaps", evidence("payments", "x%03d" % i))
            gate.until(lambda: gate.more("payments") == [0, 0, 199])
            self.assertLessEqual(gate.look()["puts"], 6)

    def test_410_leads_to_a_list(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.put("configmaps", evidence("payments", "b"), silent=True)
            api.delete("configmaps", OWN, "a", silent=True)
            api.event("configmaps", "ERROR", status(410, "too old resource version", "Expired"))
            gate.shows({"payments/b": "valid"})
            self.assertEqual(gate.look()["relists"], 1)
            self.assertNotIn("resourceVersion", [p for p in api.paths("configmaps") if "limit=" in p][1])
            self.assertEqual(gate.events("failed"), [])

    def test_a_broken_watch_continues_without_a_list(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.put("configmaps", evidence("payments", "b"))
            gate.shows({**VALID, "payments/b": "valid"})
            api.cut(b'{"type":"MODIFIED","object":{"metadata":{"na')
            api.put("configmaps", evidence("payments", "c", DOCUMENT % "other"))
            gate.shows({**VALID, "payments/b": "valid", "payments/c": "valid"})
            self.assertEqual(gate.look()["relists"], 0)

    def test_a_watch_continues_at_once_after_a_clean_end(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            time.sleep(1.1)
            api.cut()
            gate.until(lambda: len(api.paths("watch=")) == 4, 0.5)
            self.assertEqual(gate.look()["failures"], 0)

    def test_the_last_snapshot_stays_while_the_server_is_unreachable(self):
        api = world()
        with api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hook = lambda r: b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
            time.sleep(1.1)
            api.cut()
            gate.wait(lambda s: s.get("event") == "failed", count=2)
            self.assertEqual(gate.evidence(), VALID)
            self.assertEqual(gate.ask("stale", "stale"), {"stale": False})
            api.hook = lambda r: None
            api.put("configmaps", evidence("payments", "b"))
            gate.shows({**VALID, "payments/b": "valid"})
            gate.wait(lambda s: s.get("event") == "recovered")
            self.assertEqual(gate.look()["relists"], 0)

    def test_an_idle_watch_is_restarted(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            gate.tell("later msec=131000")
            gate.until(lambda: gate.look()["relists"] == 2)
            gate.tell("max_stale sec=60")
            self.assertEqual(gate.ask("stale", "stale"), {"stale": False})

    def test_a_suspended_machine_does_not_keep_a_snapshot_fresh(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hook = lambda r: refusal(503, "away")
            gate.tell("suspend msec=200000")
            self.assertEqual(gate.ask("stale", "stale"), {"stale": True})
            self.assertGreaterEqual(gate.look()["heard_age"], 200000)
            api.hook = lambda r: None
            gate.until(lambda: gate.look()["relists"] == 2)  # both watches were silent for too long
            self.assertEqual(gate.ask("stale", "stale"), {"stale": False})

    def test_named_namespaces(self):
        api = world()
        api.put("namespaces", namespace("other", "required"))
        api.put("configmaps", evidence("other", "z"))
        api.put("configmaps", evidence("payments", "b"))
        with api, Gate(api, namespaces="payments,payments").ready() as gate:
            self.assertEqual(gate.evidence(), {**VALID, "payments/b": "valid"})
            self.assertEqual(gate.show("payments", "other")["namespaces"], {"payments": "required", "other": None})
            self.assertEqual({p.split("?")[0] for p in api.paths()},
                             {"/api/v1/namespaces/payments/configmaps", "/api/v1/namespaces/%s/configmaps" % OWN,
                              "/api/v1/namespaces"})
            for p in api.paths("namespaces?"):
                self.assertIn("fieldSelector=metadata.name%3D", p)
            gate.question("evidence", "other", "outside")
            self.assertEqual(gate.results("outside")[0]["result"], -errno.EIO)
            gate.question("evidence", "payments", "inside")
            self.assertEqual(gate.results("inside")[0]["result"], 0)


class Bounds(unittest.TestCase):
    def test_invalid_documents_are_kept_up_to_a_limit(self):
        api = world()
        for i in range(1100):
            api.put("configmaps", evidence("payments", "x%04d" % i, "kind: nothing", keys=()))
        for i in range(1003):
            api.put("configmaps", evidence("payments", "y%04d" % i, "kind: SandboxBaseline", keys=()))
        with api, Gate(api).ready() as gate:
            self.assertEqual((len(gate.evidence()), gate.more("payments")), (2001, [100, 3, 0]))
            for i in range(1095):
                api.delete("configmaps", "payments", "x%04d" % i)
            gate.until(lambda: (len(gate.evidence()), gate.more("payments")) == (1001, [5, 3, 0]))
            api.put("configmaps", evidence("payments", "x1099", "kind: another", keys=()))
            gate.until(lambda: (len(gate.evidence()), gate.more("payments")) == (1002, [4, 3, 0]))
            api.put("configmaps", evidence("payments", "y0000"))
            api.put("configmaps", evidence("payments", "y1002", DOCUMENT % "other"))
            gate.until(lambda: gate.evidence().get("payments/y1002") == "valid")
            self.assertEqual((len(gate.evidence()), gate.more("payments")), (1003, [4, 2, 0]))
            self.assertLessEqual(len(gate.events("unreadable")), 60)


    def test_of_equal_documents_one_is_used_and_a_deletion_names_the_next(self):
        api = world()
        for name in "dbc":
            api.put("configmaps", evidence("payments", name))
        with api, Gate(api).ready() as gate:
            self.assertEqual(gate.evidence(), {**VALID, "payments/b": "valid"})
            api.delete("configmaps", "payments", "b")
            gate.shows({**VALID, "payments/c": "valid"})
            api.put("configmaps", evidence("payments", "c", keys=()))
            gate.shows({**VALID, "payments/c": "invalid", "payments/d": "valid"})
            api.put("configmaps", evidence("payments", "a"))
            gate.shows({**VALID, "payments/a": "valid", "payments/c": "invalid"})
            self.assertEqual(gate.more("payments"), [0, 0, 1])


    def test_copies_are_verified_but_not_read(self):
        api = world()
        for i in range(60):
            api.put("configmaps", evidence("payments" if i % 2 else "team-%d" % i, "x%d" % i,
                                           keys=("security-dev",) if i % 3 else ()))
        with api, Gate(api).ready() as gate:
            look = gate.look()
            self.assertEqual((look["made"], look["read"]), (61, 1))
            self.assertEqual(gate.more("payments"), [0, 0, 19])
            # as long as one is left, in any namespace, no other is read
            for thing in [thing for kind, thing in list(api.objects.items()) if kind[0] == "configmaps"]:
                metadata = thing["metadata"]
                if metadata["name"] != "x58":
                    api.delete("configmaps", metadata["namespace"], metadata["name"])
            gate.shows({"team-58/x58": "valid"})
            api.put("configmaps", evidence("payments", "b"))
            gate.shows({"team-58/x58": "valid", "payments/b": "valid"})
            self.assertEqual(gate.look()["read"], 1)
            api.delete("configmaps", "payments", "b")
            api.delete("configmaps", "team-58", "x58")
            gate.shows({})
            api.put("configmaps", evidence("payments", "b"))
            gate.shows({"payments/b": "valid"})
            self.assertEqual(gate.look()["read"], 2)


class Rules(unittest.TestCase):
    def test_a_removed_key_takes_effect_at_once_even_without_the_server(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hook = lambda r: refusal(500, "away")
            gate.tell("rules keyring=" + keyring("security-dev"))
            gate.shows({OWN + "/a": "invalid"}, 3)
            api.hook = lambda r: None
            gate.tell("rules keyring=" + certificates() + "/keyring")
            gate.shows(VALID)

    def test_a_revoked_digest_takes_effect_at_once_and_all_is_verified_again(self):
        digest = "sha256:" + hashlib.sha256((DOCUMENT % "report").encode()).hexdigest()
        api = world()
        api.put("configmaps", evidence("payments", "b", DOCUMENT % "other"))
        with api, Gate(api).ready() as gate:
            made = gate.look()["made"]
            self.assertEqual(made, 2)
            gate.tell("rules keyring=%s/keyring revoked=%s" % (certificates(), digest))
            gate.shows({OWN + "/a": "revoked", "payments/b": "valid"}, 3)
            gate.until(lambda: gate.look()["made"] == made + 2)
            self.assertEqual(gate.evidence(), {OWN + "/a": "revoked", "payments/b": "valid"})

    def test_rules_that_do_not_concern_evidence_verify_nothing(self):
        with world() as api, Gate(api).ready() as gate:
            gate.tell("rules keyring=%s/keyring max_age=7" % certificates())
            gate.until(lambda: gate.show()["max_age"] == 7)
            self.assertEqual((gate.look()["made"], gate.look()["relists"]), (1, 0))
            gate.until(lambda: gate.look()["kept"] == 1)


class Confirming(unittest.TestCase):
    def test_evidence_that_the_watch_has_not_shown(self):
        with world() as api, Gate(api).ready() as gate:
            api.put("configmaps", evidence("payments", "b"), silent=True)
            api.put("configmaps", evidence(OWN, "c", DOCUMENT % "other"), silent=True)
            gate.question("evidence", "payments", "t")
            self.assertEqual(gate.results("t")[0]["result"], 0)
            self.assertEqual(gate.evidence(), {**VALID, "payments/b": "valid", OWN + "/c": "valid"})
            self.assertEqual(gate.look()["made"], 3)  # known documents were not verified again
            self.assertEqual(gate.look()["confirmations"], 2)
            selector = "/configmaps?labelSelector=sandbox.runx.dev%2Fevidence%3Dtrue"
            self.assertEqual(sorted(api.reads()), ["/api/v1/namespaces/payments" + selector,
                                                   "/api/v1/namespaces/" + OWN + selector])

    def test_a_namespace_that_the_watch_has_not_shown(self):
        with world() as api, Gate(api).ready() as gate:
            api.put("namespaces", namespace("new", "required"), silent=True)
            gate.question("namespace", "new", "t")
            self.assertEqual(gate.results("t")[0]["result"], 0)
            self.assertEqual(gate.show("new")["namespaces"], {"new": "required"})
            gate.question("namespace", "nowhere", "u")
            self.assertEqual(gate.results("u")[0]["result"], 0)
            self.assertEqual(gate.show("nowhere")["namespaces"], {"nowhere": None})
            self.assertEqual(gate.look()["failures"], 0)

    def test_a_name_is_never_a_path(self):
        with world() as api, Gate(api).ready() as gate:
            gate.question("namespace", "../../x?y", "t")
            self.assertEqual(gate.results("t")[0]["result"], 0)
            self.assertEqual(api.reads(), ["/api/v1/namespaces/..%2F..%2Fx%3Fy"])
            gate.question("namespace", "", "u")
            gate.question("namespace", "x" * 254, "u")
            self.assertEqual([r["result"] for r in gate.results("u", 2)], [-errno.EIO] * 2)

    def test_a_read_that_fails(self):
        with world() as api, Gate(api).ready() as gate:
            api.hook = lambda r: refusal(403, "you may not") if r.is_read else None
            for tag in ("t", "u"):
                gate.question("evidence", "payments", tag)
                self.assertEqual(gate.results(tag)[0]["result"], -errno.EIO)
            self.assertEqual(len(gate.events("failed")), 1)
            self.assertIn("you may not", gate.events("failed")[0]["reason"])
            gate.until(lambda: (look := gate.look())["failures"] == look["confirmations"] >= 2)

    def test_earlier_events_are_in_the_snapshot_when_a_failure_is_reported(self):
        api, rounds = world(), 12
        with api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)

            def hook(request):
                if not request.is_read:
                    return None
                made = gate.look()["made"]
                api.put("configmaps", evidence(OWN, "n%d" % made, DOCUMENT % ("n%d" % made)))
                gate.until(lambda: gate.look()["made"] > made)  # usually within a burst
                return refusal(503, "away")
            api.hook = hook
            for i in range(rounds):
                before = gate.look()["puts"]
                gate.question("evidence", OWN, "t%d" % i)
                answer, = gate.results("t%d" % i)
                self.assertEqual((answer["result"], answer["puts"]), (-errno.EIO, before + 1))
                time.sleep(0.05)
            self.assertEqual(len(gate.evidence()), len(VALID) + rounds)

    def test_a_hundred_questions_for_one_namespace_are_two_reads(self):
        with world() as api, Gate(api).ready() as gate:
            api.hold.clear()
            gate.question("evidence", "payments", "t", count=100, msec=20000)
            gate.until(lambda: len(api.reads()) >= 2)
            gate.question("evidence", "payments", "late", msec=20000)
            api.put("configmaps", evidence("payments", "b"), silent=True)
            api.hold.set()
            self.assertEqual({r["result"] for r in gate.results("t", 100)}, {0})
            self.assertEqual(gate.results("late")[0]["result"], 0)
            self.assertEqual(gate.evidence(), {**VALID, "payments/b": "valid"})
            self.assertLessEqual(len([p for p in api.reads() if "/payments/" in p]), 2)
            self.assertLessEqual(len(api.reads()), 4)

    def test_a_later_question_waits_for_the_next_read(self):
        api, early, release = world(), [], threading.Event()

        def hook(request):
            if not request.is_read or "/payments/" not in request.path or early:
                return None
            early.append(request)
            release.wait(20)  # its answer is older than the second question
            return answer(200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": []}))
        api.hook = hook
        with api, Gate(api).ready() as gate:
            gate.question("evidence", "payments", "first")
            gate.until(lambda: early)
            api.put("configmaps", evidence("payments", "b"), silent=True)
            gate.question("evidence", "payments", "second")
            gate.question("evidence", "payments", "third")
            time.sleep(0.2)
            self.assertEqual(len([p for p in api.reads() if "/payments/" in p]), 1)
            release.set()
            self.assertEqual(gate.results("first")[0]["result"], 0)
            self.assertEqual([gate.results(tag)[0]["result"] for tag in ("second", "third")], [0, 0])
            self.assertEqual(gate.evidence(), {**VALID, "payments/b": "valid"})
            self.assertEqual(len([p for p in api.reads() if "/payments/" in p]), 2)

    def test_at_most_four_reads_at_once(self):
        with world() as api, Gate(api).ready() as gate:
            api.hold.clear()
            for i in range(8):
                gate.question("namespace", "n%d" % i, "t", msec=20000)
            gate.until(lambda: len(api.reads()) == 4)
            time.sleep(0.3)
            self.assertEqual(len(api.reads()), 4)
            api.hold.set()
            self.assertEqual({r["result"] for r in gate.results("t", 8)}, {0})
            self.assertEqual(len(api.reads()), 8)

    def test_a_read_without_waiters_is_not_started(self):
        with world() as api, Gate(api).ready() as gate:
            api.hold.clear()
            for i in range(8):
                gate.question("namespace", "n%d" % i, "t", msec=300)
            gate.results("t", 8)
            api.hold.set()
            time.sleep(0.3)
            self.assertEqual(len(api.reads()), 4)

    def test_reads_of_many_namespaces_are_limited(self):
        with world() as api, Gate(api).ready() as gate:
            at_once, most = [], [0]

            def hook(request):
                if request.is_read:
                    at_once.append(1)
                    most[0] = max(most[0], len(at_once))
                    time.sleep(0.02)
                    at_once.pop()
            api.hook = hook
            for i in range(150):
                gate.question("evidence", "n%d" % i, "t", msec=10000)
                time.sleep(0.015)
            results = [r["result"] for r in gate.results("t", 150)]
            self.assertEqual(set(results), {0, -errno.EBUSY})
            self.assertGreater(results.count(0), 15)
            times = [r.when for r in api.server.requests if r.is_read]
            self.assert_twenty_a_second(times)
            self.assertLessEqual(most[0], 4)
            self.assertEqual(gate.look()["refused"], results.count(-errno.EBUSY))

    def test_many_misses_in_one_namespace_share_the_reads_of_a_second(self):
        with world() as api, Gate(api).ready() as gate:
            for i in range(200):
                gate.question("evidence", "payments", "t", msec=10000)
                time.sleep(0.01)
            results = gate.results("t", 200)
            self.assertEqual({r["result"] for r in results}, {0})
            self.assertLess(max(r["msec"] for r in results), 2500)
            times = [r.when for r in api.server.requests if r.is_read]
            self.assert_twenty_a_second(times)

    def assert_twenty_a_second(self, times):
        # on a busy machine they arrive unevenly, but there are not more of them
        for i in range(len(times) - 20):
            self.assertGreater(times[i + 20] - times[i], 0.5)
        self.assertLessEqual(len(times), 20 * (times[-1] - times[0] + 0.2) + 20)

    def test_a_question_ends_at_its_deadline(self):
        with world() as api, Gate(api).ready() as gate:
            api.hold.clear()
            gate.question("evidence", "payments", "t", msec=300)
            gate.question("namespace", "new", "t", msec=300)
            for r in gate.results("t", 2):
                self.assertEqual(r["result"], -errno.ETIMEDOUT)
                self.assertTrue(300 <= r["msec"] < 600, r)
            api.hold.set()

    def test_open_questions_end_when_the_cluster_is_freed(self):
        with world() as api, Gate(api).ready() as gate:
            api.hold.clear()
            gate.question("evidence", "payments", "t", count=10)
            gate.question("fresh", "", "f")
            gate.until(lambda: len(api.reads()) == 2)
            api.hook = lambda r: time.sleep(5)
            gate.tell("free")
            self.assertEqual({r["result"] for r in gate.results("t", 10)}, {-errno.ESHUTDOWN})
            gate.wait(lambda s: "freed" in s, 3)
            api.hold.set()

    def test_a_cluster_that_was_not_started_can_be_freed(self):
        with world() as api, Gate(api, start=False) as gate:
            gate.question("evidence", "payments", "t")
            gate.tell("free")
            self.assertEqual(gate.results("t")[0]["result"], -errno.ESHUTDOWN)


class Overlap(unittest.TestCase):
    """A read beside the watch and a list never overlap: neither could be known to be newer, and the object would never
    change again where the older one wins."""

    def test_a_read_waits_for_the_end_of_a_list(self):
        release = threading.Event()
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hook = lambda r: release.wait(20) and None if "limit" in r.query else None
            gate.question("fresh", "", "f")
            gate.until(lambda: len([p for p in api.paths("/configmaps?") if "limit=" in p]) == 2)
            gate.question("evidence", "payments", "e")
            time.sleep(0.3)
            self.assertEqual(api.reads(), [])
            api.put("configmaps", evidence("payments", "late"), silent=True)
            release.set()
            self.assertEqual(gate.results("f")[0]["result"], 0)
            self.assertEqual(gate.results("e")[0]["result"], 0)
            self.assertEqual(len([p for p in api.reads() if "/payments/" in p]), 1)
            self.assertIn("payments/late", gate.evidence())

    def test_a_read_that_a_list_overtakes_is_repeated_after_it(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hold.clear()
            api.put("configmaps", evidence("payments", "late"), silent=True)
            gate.question("evidence", "payments", "e", msec=20000)
            gate.until(lambda: len(api.reads()) == 2)
            gate.question("fresh", "", "f")
            self.assertEqual(gate.results("f")[0]["result"], 0)
            api.hold.set()
            self.assertEqual(gate.results("e")[0]["result"], 0)
            self.assertEqual(len([p for p in api.reads() if "/payments/" in p]), 2)
            self.assertIn("payments/late", gate.evidence())

    def test_what_changes_after_a_read_in_the_pause_before_a_list_counts(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hook = lambda r: refusal(500, "etcdserver: leader changed") if "limit" in r.query else None
            with api.lock:
                api.version += 1
                api.oldest = api.version  # the watches cannot continue
            api.cut()
            gate.until(lambda: len([p for p in api.paths("/configmaps?") if "limit=" in p]) == 3)
            api.put("configmaps", evidence("payments", "late"))
            gate.question("evidence", "payments", "e", msec=20000)
            self.assertEqual(gate.results("e")[0]["result"], 0)
            self.assertIn("payments/late", gate.evidence())
            api.delete("configmaps", "payments", "late")
            api.hook = lambda r: None
            gate.until(lambda: "payments/late" not in gate.evidence(), 60)


class Shares(unittest.TestCase):
    """No namespace holds up the reads of the others. The clock stands still, and moves in steps."""

    @contextlib.contextmanager
    def scene(self, slow=()):
        release = threading.Event()

        def hook(request):
            if request.is_read and any("/%s/" % name in request.path for name in slow):
                release.wait(60)
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hook = hook
            gate.tell("freeze")
            try:
                yield api, gate
            finally:
                release.set()

    def count(self, api, name):
        return len([p for p in api.reads() if "/namespaces/%s/" % name in p])

    def ask(self, gate, name, tag=None):
        gate.question("evidence", name, tag or name, msec=3600000)

    def test_slow_namespaces_give_back_their_slots(self):
        slow = ["s1", "s2", "s3", "s4"]
        with self.scene(slow) as (api, gate):
            for name in slow:
                self.ask(gate, name)
            gate.until(lambda: all(self.count(api, name) == 1 for name in slow))
            self.ask(gate, "payments")
            time.sleep(0.3)
            self.assertEqual(self.count(api, "payments"), 0)  # nobody ran for long yet
            gate.tell("later msec=1000")
            self.assertEqual(gate.results("payments")[0]["result"], 0)
            # from now on they are known: the others do not wait for any step
            for name in slow:
                self.ask(gate, name, "again")
            for i in range(3):
                self.ask(gate, "other%d" % i)
                self.assertEqual(gate.results("other%d" % i)[0]["result"], 0)
            self.assertEqual([s for s in gate.said if s.get("done") in slow + ["again"]], [])

    def test_slow_namespaces_leave_room_in_the_queue(self):
        slow = ["s%d" % i for i in range(30)]
        with self.scene(slow) as (api, gate):
            for name in slow[:4]:
                self.ask(gate, name)
            gate.until(lambda: all(self.count(api, name) == 1 for name in slow[:4]))
            for step in range(4, 30, 2):  # each step finds two more of them
                for name in slow[step:step + 2]:
                    self.ask(gate, name)
                gate.tell("later msec=1000")
                gate.until(lambda: all(self.count(api, n) or any(s.get("done") == n for s in gate.said)
                                       for n in slow[step:step + 2]))
            for name in slow:
                self.ask(gate, name, "again")
            self.ask(gate, "payments")
            gate.tell("later msec=1000")
            self.assertEqual(gate.results("payments")[0]["result"], 0)

    def test_the_gates_own_namespace_keeps_its_slot_though_it_is_slow(self):
        with self.scene([OWN, "s1", "s2", "s3"]) as (api, gate):
            for name in ("s1", "s2", "s3"):
                self.ask(gate, name)
            gate.until(lambda: self.count(api, OWN) == 1 and all(self.count(api, n) for n in ("s1", "s2", "s3")))
            self.ask(gate, "payments")
            gate.tell("later msec=1000")
            gate.until(lambda: self.count(api, "payments") == 1)
            self.assertEqual(self.count(api, OWN), 1)

    def test_one_namespace_has_a_quarter_of_the_rate(self):
        with self.scene() as (api, gate):
            for i in range(5):
                self.ask(gate, "busy", "busy%d" % i)
                self.assertEqual(gate.results("busy%d" % i)[0]["result"], 0)
            self.ask(gate, "busy", "sixth")
            for i in range(3):
                self.ask(gate, "other%d" % i)
                self.assertEqual(gate.results("other%d" % i)[0]["result"], 0)
            self.assertEqual(self.count(api, "busy"), 5)
            self.assertEqual([s for s in gate.said if s.get("done") == "sixth"], [])
            gate.tell("later msec=1000")
            self.assertEqual(gate.results("sixth")[0]["result"], 0)
            self.assertEqual(self.count(api, "busy"), 6)


class Freshness(unittest.TestCase):
    def test_all_questions_share_one_refresh(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.put("configmaps", evidence("payments", "b"), silent=True)
            api.delete("configmaps", OWN, "a", silent=True)
            gate.tell("max_stale sec=90")
            self.assertEqual(gate.ask("stale", "stale"), {"stale": False})
            gate.tell("later msec=100000")
            gate.question("fresh", "", "t", count=20)
            self.assertEqual({r["result"] for r in gate.results("t", 20)}, {0})
            self.assertEqual(gate.evidence(), {"payments/b": "valid"})
            self.assertEqual(gate.ask("stale", "stale"), {"stale": False})
            self.assertEqual(gate.look()["relists"], 2)

    def test_refreshes_are_limited_and_report_failures(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            begin = len(api.paths())
            api.hook = lambda r: refusal(503, "away")
            for i in range(20):
                gate.question("fresh", "", "t", msec=4000)
                time.sleep(0.1)
            self.assertEqual({r["result"] for r in gate.results("t", 20)}, {-errno.EIO})
            self.assertLessEqual(len(api.paths()) - begin, 14)

    def test_a_refresh_keeps_the_deadline(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hook = lambda r: time.sleep(2)
            gate.question("fresh", "", "t", msec=300)
            self.assertEqual(gate.results("t")[0]["result"], -errno.ETIMEDOUT)
            api.hook = lambda r: None


class Reach(unittest.TestCase):
    """A stale cluster reads by itself."""

    @contextlib.contextmanager
    def cut_off(self, hook=lambda r: refusal(503, "away")):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            api.hook = hook
            gate.tell("later msec=200000")
            gate.until(lambda: gate.look()["failed_reads"] >= 3)
            yield api, gate
            api.hook = lambda r: None

    def test_it_notices_without_requests_that_the_server_is_gone_and_back(self):
        with self.cut_off() as (api, gate):
            said = gate.look()
            self.assertEqual((said["stale"], said["ready"]), (True, True))
            self.assertLess(said["failed_read_age"], 60000)
            api.put("configmaps", evidence("payments", "b"), silent=True)
            api.hook = lambda r: None
            gate.until(lambda: gate.look()["failed_reads"] == 0)
            gate.shows({**VALID, "payments/b": "valid"})
            self.assertEqual(gate.ask("stale", "stale"), {"stale": False})
            count = len(own_reads(api))
            time.sleep(1.2)
            self.assertEqual(len(own_reads(api)), count)  # only while it is stale

    def test_its_reads_have_growing_pauses(self):
        with self.cut_off() as (api, gate):
            gate.until(lambda: len(own_reads(api)) >= 4)
            when = own_reads(api)
            for i, pause in enumerate((0.5, 1, 2)):
                self.assertGreaterEqual(when[i + 1] - when[i], pause)

    def test_a_fresh_cluster_does_not_read_by_itself(self):
        with world() as api, Gate(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 2)
            gate.tell("later msec=100000")
            time.sleep(1.2)
            self.assertEqual(own_reads(api), [])

    def test_questions_do_not_wait_for_a_server_that_is_out_of_reach(self):
        with self.cut_off() as (api, gate):
            release = threading.Event()
            api.hook = lambda r: release.wait(30) and None
            for question, name in (("fresh", ""), ("namespace", "new"), ("evidence", "payments")):
                gate.question(question, name, question, msec=25000)
                said = gate.results(question)[0]
                self.assertEqual((question, said["result"]), (question, -errno.EIO))
                self.assertLess(said["msec"], 10000)
            release.set()


def own_reads(api):
    return [r.when for r in api.server.requests if r.path == "/api/v1/namespaces/" + OWN]


class Once(unittest.TestCase):
    def test_reads_lists_and_stops(self):
        with world() as api, Gate(api, start=False) as gate:
            self.assertEqual(gate.ask("once", "once"), {"once": 0, "reason": ""})
            self.assertEqual(gate.evidence(), VALID)
            self.assertEqual(api.paths("watch="), [])

    def test_a_403_names_the_missing_permission(self):
        api = world()
        api.hook = lambda r: refusal(403, "namespaces is forbidden: no") if "configmaps" not in r.path else None
        with api, Gate(api, start=False) as gate:
            begin = time.monotonic()
            said = gate.ask("once", "once")
            self.assertEqual(said["once"], -errno.EACCES)
            self.assertIn("namespaces is forbidden: no", said["reason"])
            self.assertIn("allow this account to get, list and watch namespaces", said["reason"])
            self.assertLess(time.monotonic() - begin, 2)

    def test_connection_refused(self):
        api = world()
        api.server.listener.close()
        with Gate(api, start=False, server="https://127.0.0.1:1") as gate:
            said = gate.ask("once msec=3000", "once")
            self.assertEqual(said["once"], -errno.EIO)
            self.assertIn("127.0.0.1:1", said["reason"])

    def test_a_busy_server_is_tried_again(self):
        api = world()
        api.hook = lambda r: refusal(429, "later", "Retry-After: 1")
        with api, Gate(api, start=False) as gate:
            threading.Timer(0.7, lambda: setattr(api, "hook", lambda r: None)).start()
            self.assertEqual(gate.ask("once", "once")["once"], 0)
        api = world()
        api.hook = lambda r: refusal(429, "later", "Retry-After: 1")
        with api, Gate(api, start=False) as gate:
            said = gate.ask("once msec=500", "once")
            self.assertEqual(said["once"], -errno.ETIMEDOUT)
            self.assertIn("later", said["reason"])


if __name__ == "__main__":
    unittest.main()
