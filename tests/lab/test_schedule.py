"""A schedule to take away is what the policy serves."""

from datetime import datetime, timedelta

from afterglow import Agent
from afterglow.lab.schedule import as_csv, schedule


def test_it_is_what_an_agent_serves() -> None:
    turns = schedule(["A", "B", "C"], 5, 500, 4, seed=9, until=450)
    agent = Agent(["A", "B", "C"], 5, 500, "switchback", seed=9, season=4, until=450)
    served = []
    for turn in turns:
        for _ in range(turn.steps):
            served.append(agent.select() == turn.variant)
            agent.update(0.5)
    assert all(served)
    assert len(turns) == 3 * agent.test().blocks


def test_rows_have_times_and_say_what_counts() -> None:
    text = as_csv(schedule(["A", "B"], 3, 90), datetime(2027, 1, 4), timedelta(hours=12))
    lines = text.splitlines()
    assert lines[0] == "time,step,variant,block,turn,counted,total"
    assert lines[1].startswith("2027-01-04T00:00,0,")
    assert lines[3].startswith("2027-01-05T00:00,2,")
    assert [line.split(",")[5] for line in lines[1:6]] == ["no", "no", "yes", "yes", "yes"]
