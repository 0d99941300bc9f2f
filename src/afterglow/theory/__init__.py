"""Constants, lemmas and theorems as functions, as printed in the paper and as proved; one formula per function."""

from afterglow.theory import trim
from afterglow.theory.deviations import hoeffding, log_mixture, mixture_level, peeling
from afterglow.theory.elimination import (
    auer_ortner,
    lemma_3_paper,
    pulls_at_elimination,
    pulls_needed,
    pulls_root,
    resolving_phase,
    schedule,
    theorem_2_paper,
    theorem_2_sharper,
)
from afterglow.theory.figures import bounds
from afterglow.theory.leakage import leak, lemma_1, lemma_1_paper, lemma_2_paper
from afterglow.theory.lower import hidden_pulls, hiding_holds, hiding_regret, lai_robbins
from afterglow.theory.phased import (
    bias_scale,
    corrected_constant,
    hold_length,
    leftover_exponent,
    log_level,
    pulls_constant,
    pulls_corrected,
    pulls_paper,
    pulls_proved,
    radius_scale,
    regret_proved,
    theorem_1_corrected,
    theorem_1_paper,
)

__all__ = [
    "auer_ortner",
    "bias_scale",
    "bounds",
    "corrected_constant",
    "hidden_pulls",
    "hiding_holds",
    "hiding_regret",
    "hoeffding",
    "hold_length",
    "lai_robbins",
    "leak",
    "leftover_exponent",
    "lemma_1",
    "lemma_1_paper",
    "lemma_2_paper",
    "lemma_3_paper",
    "log_level",
    "log_mixture",
    "mixture_level",
    "peeling",
    "pulls_at_elimination",
    "pulls_constant",
    "pulls_corrected",
    "pulls_needed",
    "pulls_paper",
    "pulls_proved",
    "pulls_root",
    "radius_scale",
    "regret_proved",
    "resolving_phase",
    "schedule",
    "theorem_1_corrected",
    "theorem_1_paper",
    "theorem_2_paper",
    "theorem_2_sharper",
    "trim",
]
