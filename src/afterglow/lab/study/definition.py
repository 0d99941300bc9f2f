"""The definition of a study: its fields, checked, and the grid of cells that they describe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from afterglow.errors import BadValue
from afterglow.lab.study import fields as check
from afterglow.lab.study import world_fields
from afterglow.lab.study.grid import Cell, Grid, grid_of
from afterglow.policies.registry import AnyPolicy
from afterglow.worlds.files import only, read_toml
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

OBJECTIVES = ["regret", "best-arm"]


@dataclass(frozen=True)
class StudyDefinition:
    """The fields of a study; see `Study`."""

    policies: Sequence[str | AnyPolicy | Mapping[str, Any]]
    worlds: Sequence[World | UnitsWorld | Mapping[str, Any]]
    horizon: Any
    runs: Any = 100
    seed: Any = 1
    checkpoints: Any = 40
    told_window: Any = "world"
    told_horizon: Any = True
    engine: Any = "auto"
    season: Any = 1
    refused: str = "stop"  # at a cell that its policy refuses; or "leave out"
    name: str = "study"
    question: str = ""  # title of the report
    objective: str = "regret"  # or "best-arm": the probability of recommending a wrong arm, against the budget
    source: str = field(default="", repr=False, compare=False)  # the file, for messages

    def __post_init__(self) -> None:
        """Check all fields before anything runs."""
        _ = self.cells

    @classmethod
    def read(cls, path: str | Path, seed: int | None = None) -> Self:
        """Read a study from a TOML file; `seed` replaces the file's own."""
        found = read_toml(path)
        known = tuple(one.name for one in fields(cls) if one.name != "source")
        only(path, "key", found, known)
        for key in ("policies", "worlds", "horizon"):
            if key not in found:
                raise BadValue(f"{path} has no {key}; `afterglow init` writes an example", field=key)
        own = {"name": Path(path).stem} | found | ({} if seed is None else {"seed": seed})
        return cls(**own, source=str(path))

    @cached_property
    def grid(self) -> Grid:
        """The cells, with those left out and warnings."""
        with check.naming(self.source):
            entries = check.entries(self.policies, self.source)
            worlds = world_fields.worlds(self.worlds)
            axes = {
                "horizon": check.axis("horizon", self.horizon, check.steps),
                "runs": check.axis("runs", self.runs, check.count),
                "seed": check.axis("seed", self.seed, check.seed),
                "told_window": check.axis("told_window", self.told_window, check.told_window),
                "told_horizon": check.axis("told_horizon", self.told_horizon, check.flag),
                "engine": check.axis("engine", self.engine, check.engine),
                "season": check.axis("season", self.season, check.season),
            }
            check.one_of("refused", self.refused, ["stop", "leave out"])
            check.folder_name(self.name)
            check.text("question", self.question)
            check.one_of("objective", self.objective, OBJECTIVES)
            marks = check.checkpoints(self.checkpoints)
            made = grid_of(entries, worlds, axes, marks, self.refused == "leave out")
            if not made.cells:
                raise BadValue("the study has no cell that its policies accept", kind="no-cells", field="policies")
            return made

    @property
    def cells(self) -> list[Cell]:
        """Every combination, in the order of the tables."""
        return self.grid.cells

    @property
    def left_out(self) -> list[str]:
        """The combinations that policies refuse, with the reason."""
        return self.grid.left_out

    @property
    def warned(self) -> list[str]:
        """Warnings of policies about cells."""
        return self.grid.warned

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, stored with the results; a later run must match or extend them."""
        found = {one.name: check.plain(getattr(self, one.name)) for one in fields(self) if one.name != "source"}
        if found["objective"] == OBJECTIVES[0]:  # as results of before this field
            del found["objective"]
        return found
