CREATE TABLE afterglow_schema (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT afterglow_schema_pkc PRIMARY KEY (version_num)
);
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
        experiment INTEGER NOT NULL, step INTEGER NOT NULL, salt BLOB NOT NULL, PRIMARY KEY (experiment, step)
    ) WITHOUT ROWID;
CREATE TABLE rewards (
        experiment INTEGER NOT NULL, step INTEGER NOT NULL, digest BLOB NOT NULL, amount INTEGER NOT NULL,
        PRIMARY KEY (experiment, step, digest)
    ) WITHOUT ROWID;
CREATE TABLE tokens (
        id TEXT PRIMARY KEY NOT NULL, label TEXT NOT NULL, digest BLOB NOT NULL, scopes TEXT NOT NULL,
        experiments TEXT, created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
    );
CREATE TABLE hooks (
        id TEXT PRIMARY KEY NOT NULL, address TEXT NOT NULL, secret TEXT NOT NULL, kinds TEXT, experiments TEXT,
        created INTEGER NOT NULL
    );
CREATE TABLE hook_places (
        hook TEXT NOT NULL REFERENCES hooks, experiment TEXT NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY (hook, experiment)
    ) WITHOUT ROWID;
ALTER TABLE hook_places ADD COLUMN at INTEGER;
ALTER TABLE hook_places ADD COLUMN hash BLOB;
ALTER TABLE steps ADD COLUMN last_step INTEGER;
CREATE TABLE spans (
        experiment INTEGER NOT NULL, span INTEGER NOT NULL, salt BLOB NOT NULL, first_step INTEGER NOT NULL,
        began INTEGER NOT NULL, PRIMARY KEY (experiment, span)
    ) WITHOUT ROWID;
INSERT INTO spans SELECT experiment, step, salt, step, 0 FROM salts;
DROP TABLE salts;
ALTER TABLE rewards RENAME TO rewards_by_step;
CREATE TABLE rewards (
        experiment INTEGER NOT NULL, span INTEGER NOT NULL, digest BLOB NOT NULL, step INTEGER NOT NULL,
        amount INTEGER NOT NULL, PRIMARY KEY (experiment, span, digest)
    ) WITHOUT ROWID;
INSERT INTO rewards SELECT experiment, step, digest, step, amount FROM rewards_by_step;
DROP TABLE rewards_by_step;
CREATE TABLE sums (
        experiment INTEGER NOT NULL, step INTEGER NOT NULL, writer TEXT NOT NULL, reports INTEGER NOT NULL,
        high INTEGER NOT NULL, low INTEGER NOT NULL, PRIMARY KEY (experiment, step, writer)
    ) WITHOUT ROWID;
INSERT INTO sums SELECT experiment, step, '', count(*), sum(amount >> 32), sum(amount & 4294967295) FROM rewards
        GROUP BY experiment, step;
CREATE TABLE audit (
        id TEXT PRIMARY KEY NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, token TEXT NOT NULL, label TEXT NOT NULL,
        subject TEXT NOT NULL, detail TEXT NOT NULL
    );
CREATE INDEX audit_by_time ON audit (at);
ALTER TABLE rewards ADD COLUMN series INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sums RENAME TO sums_of_steps;
CREATE TABLE sums (
        experiment INTEGER NOT NULL, step INTEGER NOT NULL, series INTEGER NOT NULL, writer TEXT NOT NULL,
        reports INTEGER NOT NULL, high INTEGER NOT NULL, low INTEGER NOT NULL,
        PRIMARY KEY (experiment, step, series, writer)
    ) WITHOUT ROWID;
INSERT INTO sums SELECT experiment, step, 0, writer, reports, high, low FROM sums_of_steps;
DROP TABLE sums_of_steps;
ALTER TABLE steps ADD COLUMN series TEXT;
INSERT INTO afterglow_schema (version_num) VALUES ('3');
