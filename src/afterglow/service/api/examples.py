"""One example for each schema of the OpenAPI document."""

from typing import Any

DIFFERENCE: dict[str, Any] = {
    "variant": "59", "over": "49", "mean": 43.1, "low": 12.2, "high": 74.0, "missing": None
}  # fmt: skip
PERCENT = {"mean": 10.4, "low": 1.9, "high": 18.9}
VERSUS: dict[str, Any] = {
    "variant": "59", "over": "49", "mean": 43.1, "low": 7.9, "high": 78.3, "percent": PERCENT, "valid": "at any time",
    "missing": None, "more_steps": None,
}  # fmt: skip
GAINED = {"mean": 10344.0, "low": 1896.0, "high": 18792.0}
VERDICT: dict[str, Any] = {
    "grade": "clear", "recommended": "59", "control": "49", "to_control": VERSUS, "to_runner_up": VERSUS,
    "chance": 0.998, "chances": {"49": 0.001, "59": 0.998, "69": 0.001}, "expected_loss": 0.02, "gained": GAINED,
    "assumes": ["effects arrive alike all the time"], "unit": "EUR", "confidence": 0.95, "over": False,
    "stopped": False, "alarm": None, "lingers": None,
    "sentence": "59 is clearly the best; over 49, which comes closest, it brings +10 % a step, between +1.9 % and "
    "+19 %.", "p": None,
}  # fmt: skip
PAIR: dict[str, Any] = {
    "variant": "49", "over": "59", "difference": -43.1, "p": 0.002, "holm": 0.004, "low": -61.0, "high": -25.2,
    "t_low": -60.8, "t_high": -25.4,
}  # fmt: skip
EXACT_TEST: dict[str, Any] = {
    "p": 0.002, "pairs": [PAIR], "means": {"49": 412.5, "59": 455.6}, "blocks": 10, "left_out": 0, "orders": 1024,
    "every_order": True, "confidence": 0.95, "void_steps": 0,
}  # fmt: skip
GUARD: dict[str, Any] = {
    "guard": "complaints", "metric": "complaints", "variant": "59", "limit_words": "at most +10% against the control",
    "state": "watching", "mean": 20.4, "limit": 22.1, "excess": -1.7, "low": -3.9, "high": 0.5, "missing": None,
    "stopped_at": None,
}  # fmt: skip
STATUS: dict[str, Any] = {
    "status": "clear", "phase": "running", "step": 412, "horizon": 2000, "variant": "59", "leader": "59",
    "pinned": None, "disabled": [], "shadow": False, "held": False, "washout": 0, "learned": 412, "excluded": 0,
    "alarm": None, "recommended": "59", "archived": False, "stale": False, "verdict": VERDICT, "test": None,
    "guards": [GUARD], "units": [], "units_test": None,
}  # fmt: skip
EXPERIMENT: dict[str, Any] = {
    "name": "shipping", "variants": ["49", "59", "69"], "window": 24, "horizon": 2000, "reward_max": 1200.0,
    "policy": "trim-ucb", "policy_version": 1, "options": {}, "settings": {"arms": 3, "window": 24}, "seed": 1,
    "confidence": 0.95, "season": 1, "control": "49", "mode": "clock", "step_seconds": 3600.0,
    "starts": "2026-11-16T01:00:00.000Z", "heartbeat": False, "shadow": False, "remember": 3600.0, "remember_steps": 3,
    "release": "0.1.0", "units": [], "levels": {},
    "unit": "EUR", "profile": [], "profile_from": None, "typical": None, "trust": 1.0,
    "guards": {"complaints": {"metric": "complaints", "at_most": "+10%", "against": "control"}}, "status": STATUS,
}  # fmt: skip
CURRENT: dict[str, Any] = {
    "experiment": "shipping", "variant": "59", "step": 412, "role": "plan", "valid_until": "2026-12-03T06:00:00.000Z",
    "unit": None,
}  # fmt: skip
STEP = {
    "step": 411,
    "unit": None,
    "variant": "59",
    "planned": "59",
    "role": "plan",
    "total": 310.0,
    "void": False,
    "reason": None,
    "expected": None,
    "metrics": {"complaints": 21.0},
}
EVENT: dict[str, Any] = {
    "seq": 413, "at": "2026-12-03T05:00:00.012Z", "kind": "close",
    "body": {"step": 411, "served": "59", "total": 310.0, "void": False},
    "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
}  # fmt: skip
BY = {"token": "4f1c09d2e75a", "label": "night shift", "session": "4f1c09d2e75a-9b1c3d5e7f90"}
UNIT_DIFFERENCE = {
    "variant": "49", "difference": -0.0437, "low": -0.0856, "high": -0.0019, "unit_steps": 72, "runs": 5,
}  # fmt: skip
AUDIT = {
    "at": "2026-11-16T01:30:00.000Z", "kind": "token-created", "token": "4f1c09d2e75a", "label": "night shift",
    "subject": "b1946ac92492", "detail": "shop: decide, report; all experiments",
}  # fmt: skip
ESTIMATE = {"variant": "59", "mean": 412.5, "low": 301.2, "high": 498.7, "pulls": 240, "runs": 9, "share": 0.58}
ESTIMATES: dict[str, Any] = {
    "confidence": 0.95, "alarm": None, "items": [ESTIMATE], "differences": [DIFFERENCE],
}  # fmt: skip
REWARD = {"key": "2f1c0b1e-6d0c-4f0e-9a57-6c8e1e1f3b52", "amount": 12.5}
FLAG: dict[str, Any] = {
    "key": "shipping", "value": "59", "variant": "59", "reason": "SPLIT",
    "metadata": {"step": 412, "role": "plan", "valid_until": "2026-12-03T06:00:00.000Z"},
}  # fmt: skip
NOT_JSON = {"errorCode": "PARSE_ERROR", "errorDetails": "the body is not JSON: input data was truncated"}
HOOK: dict[str, Any] = {
    "id": "9f86d081884c", "url": "https://shop.example/hooks/afterglow", "kinds": ["close", "stop"],
    "experiments": None, "created": "2026-11-16T01:30:00.000Z", "waiting": {},
}  # fmt: skip
PAIR_TEST = {
    "variant": "59", "over": "49", "difference": 17.2, "p": 0.004, "holm": 0.004, "low": 6.1, "high": 28.3,
    "t_low": 6.6, "t_high": 27.8,
}  # fmt: skip
EXAMPLES: dict[str, Any] = {
    "NewExperiment": {
        "name": "shipping", "variants": ["49", "59", "69"], "window": 24, "horizon": 2000, "reward_max": 1200.0,
        "step_seconds": 3600, "unit": "EUR",
    },
    "Total": {"total": 310.0, "metrics": {"complaints": 21.0}},
    "GuardLimit": {"at_most": "+10%", "against": "control"},
    "GuardReading": GUARD,
    "GuardReadings": {"items": [GUARD]},
    "ExpectedTotals": {"first": 734, "values": [1280.0, 1310.5, None]},
    "Told": {"first": 734, "last": 736},
    "PairTest": PAIR_TEST,
    "ExactTest": {
        "p": 0.004, "pairs": [PAIR_TEST], "means": {"49": 301.2, "59": 318.4}, "blocks": 10, "left_out": 0,
        "orders": 1024, "every_order": True, "confidence": 0.95, "void_steps": 2,
    },
    "Difference": DIFFERENCE,
    "Percent": PERCENT,
    "Versus": VERSUS,
    "Gained": GAINED,
    "Verdict": VERDICT,
    "VerdictWithSummary": VERDICT | {
        "summary": f"shipping, 16 Nov 2026 to 3 Dec 2026, 412 of 2,000 steps: {VERDICT['sentence']} You can stop now "
        "and keep 59.",
    },
    "Status": STATUS,
    "Experiment": EXPERIMENT,
    "Unusable": {
        "name": "banner",
        "detail": "record 17 of 'banner' doesn't follow from the one before; go back to a backup",
    },
    "ExperimentList": {"items": [EXPERIMENT], "unusable": [], "next": None},
    "Current": CURRENT,
    "Closed": {"step": 411, "total": 310.0, "metrics": {"complaints": 21.0}, "next": CURRENT, "units": []},
    "UnitStatus": {
        "unit": "north", "variant": "59", "planned": "59", "role": "plan", "pinned": None, "level": 1200.0, "silent": 0,
    },
    "UnitsTest": {"p": 0.012, "statistic": 4.6, "draws": 999, "same": 2, "missing": 10, "outside": 12},
    "UnitDifference": UNIT_DIFFERENCE,
    "UnitDifferences": {"best": "59", "confidence": 0.95, "items": [UNIT_DIFFERENCE]},
    "Step": STEP,
    "StepList": {"items": [STEP], "next": 411},
    "Event": EVENT,
    "Events": {"items": [EVENT], "next": 413},
    "EventBody": EVENT["body"],
    "SentEvent": {
        "experiment": "shipping", "seq": 414, "at": EVENT["at"], "kind": "leads",
        "body": {"step": 412, "variant": "59", "grade": "leading"}, "verdict": None,
    },
    "By": BY,
    "AuditLine": AUDIT,
    "AuditLines": {"items": [AUDIT]},
    "Estimate": ESTIMATE,
    "Estimates": ESTIMATES,
    "Explanation": {
        "unit": None, "differences": None,
        "step": 411, "variant": "59", "planned": "59", "role": "plan", "why": "as planned",
        "policy": "trim-ucb (version 1)", "hold": [388, 48], "figures": {"pulls": {"49": 96, "59": 240, "69": 72}},
        "estimates": ESTIMATES, "because": "59 had the highest upper bound, 941 EUR against 893 EUR for 49",
        "index": {"49": 893.2, "59": 941.4, "69": 702.8}, "index_name": "upper bound", "index_unit": "amount",
    },
    "Reward": REWARD,
    "Metadata": FLAG["metadata"],
    "Flag": FLAG,
    "Flags": {"flags": [FLAG]},
    "FlagRefused": NOT_JSON | {"key": "shipping"},
    "FlagsRefused": NOT_JSON,
    "NewWebhook": {"url": HOOK["url"], "kinds": HOOK["kinds"]},
    "Webhook": HOOK,
    "CreatedWebhook": HOOK | {"secret": "whsec_J7Vt3nS0yK1cQe5uXb2mZr8pWd4fHg6aLo9iTj0vNxY="},
    "Webhooks": {"items": [HOOK]},
    "Receipt": {"step": 412, "accepted": 1, "duplicates": 0},
    "Problem": {
        "type": "/problems/unknown-experiment", "title": "There is no experiment of that name.", "status": 404,
        "detail": "no experiment named 'shiping'; did you mean 'shipping'?",
    },
}  # fmt: skip
