"""Environment of Alembic: run the missing revisions on the given connection, in its transaction."""

from alembic import context

from afterglow.live.store.migrations import TABLE


def run() -> None:
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, version_table=TABLE, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()


if __name__ == "env_py":  # the name under which Alembic runs this file
    run()
