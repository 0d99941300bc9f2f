"""`afterglow verify`: check the file, replay the logs of experiments and compare with what is stored."""

from dataclasses import asdict

from afterglow import live
from afterglow.cli import options
from afterglow.errors import BadDatabase


def command(database: options.Database, experiment: options.OneOrAll = None, json: options.Json = False) -> None:
    """Check the file, replay the log of experiments: hashes, decisions, totals and snapshots must agree."""
    with live.open(database, read_only=True) as experiments:
        damage = experiments.damage()
        verdicts = experiments.verify(None if experiment is None else [experiment])
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json([asdict(verdict) | {"ok": verdict.ok} for verdict in verdicts])
    else:
        for line in [*damage, *verdicts]:
            print(line)
    wrong = [verdict.experiment for verdict in verdicts if not verdict.ok]
    if damage:
        raise BadDatabase(f"the file has damaged pages: {damage[0]}; go back to a backup")
    if wrong:
        raise BadDatabase(f"{', '.join(wrong)} doesn't agree with its log; go back to a backup")
