"""All commands as one application, and the exit code of a call."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

import afterglow
from afterglow.cli.commands import (
    backup,
    bounds,
    compare,
    export,
    fit,
    init,
    migrate,
    plan,
    policies,
    report,
    run_study,
    schedule,
    serve,
    simulate,
    token,
    verify,
)
from afterglow.cli.exit_codes import StrictCommand, SuggestingGroup, verdict
from afterglow.cli.messages import one_line, shown
from afterglow.cli.option_names import command_in, words_of

app = typer.Typer(
    name="afterglow",
    cls=SuggestingGroup,
    add_completion=False,
    no_args_is_help=False,
    suggest_commands=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
COMMANDS = {
    "compare": compare,
    "simulate": simulate,
    "bounds": bounds,
    "policies": policies,
    "init": init,
    "run": run_study,
    "report": report,
    "plan": plan,
    "schedule": schedule,
    "fit": fit,
    "verify": verify,
    "backup": backup,
    "export": export,
    "migrate": migrate,
    "serve": serve,
}
for name, module in COMMANDS.items():
    app.command(name, cls=StrictCommand)(module.command)
app.add_typer(token.app, name="token")


@app.callback(invoke_without_command=True)
def options_of_all(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Bandits with delayed, pooled, anonymous rewards: simulate, plan, run and analyse experiments."""
    if version:
        print(afterglow.__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def commands() -> Any:
    """The application as Typer builds it."""
    return typer.main.get_command(app)


def call(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    made = commands()
    called = command_in(made, arguments)
    with shown(), words_of(called):
        try:
            code = made.main(args=list(arguments), prog_name="afterglow", standalone_mode=False)
        except Exception as failure:
            known = verdict(failure, called)
            if known is None:
                raise
            sentence, code = known
            one_line(sentence)
    return code if isinstance(code, int) else 0
