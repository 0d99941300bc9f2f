CREATE TABLE afterglow_schema (version INTEGER NOT NULL);
CREATE TABLE experiments (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE events (
        experiment INTEGER NOT NULL REFERENCES experiments, seq INTEGER NOT NULL, at INTEGER NOT NULL,
        kind TEXT NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (experiment, seq)
    ) WITHOUT ROWID;
CREATE TABLE steps (
        experiment INTEGER NOT NULL REFERENCES experiments, step INTEGER NOT NULL, served INTEGER NOT NULL,
        planned INTEGER NOT NULL, role TEXT NOT NULL, total INTEGER, void INTEGER NOT NULL,
        PRIMARY KEY (experiment, step)
    ) WITHOUT ROWID;
CREATE TABLE snapshots (
        experiment INTEGER NOT NULL REFERENCES experiments, seq INTEGER NOT NULL, step INTEGER NOT NULL,
        state TEXT NOT NULL, "check" BLOB NOT NULL, PRIMARY KEY (experiment, seq)
    );
CREATE TABLE salts (
        experiment INTEGER NOT NULL REFERENCES experiments, step INTEGER NOT NULL, salt BLOB NOT NULL,
        PRIMARY KEY (experiment, step)
    ) WITHOUT ROWID;
CREATE TABLE rewards (
        experiment INTEGER NOT NULL REFERENCES experiments, step INTEGER NOT NULL, digest BLOB NOT NULL,
        amount INTEGER NOT NULL, PRIMARY KEY (experiment, step, digest)
    ) WITHOUT ROWID;
