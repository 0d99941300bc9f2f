"""A comparison small enough to be played in every test that wants one."""

from afterglow.lab.study.study import Study

LABELS = ("phased-ucb paper", "phased-elimination", "trim-ucb", "odaaf-variance", "attributed-ucb")
SPREADS = ("uniform", "last", "handicap", "chameleon")
HORIZON = 2_000
SMALL = Study(
    policies=[
        {"policy": "phased-ucb", "constants": "paper", "label": "phased-ucb paper"},
        {"policy": ["phased-elimination", "trim-ucb", "odaaf-variance"]},
        {"policy": "attributed-ucb", "runs": 8},
    ],
    worlds=[{"rewards": [0.9, 0.8, 0.7, 0.6, 0.5], "window": 4, "spread": list(SPREADS)}],
    horizon=HORIZON,
    runs=12,
    seed=3,
    checkpoints=10,
    name="small",
)
