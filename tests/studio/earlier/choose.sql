PRAGMA application_id = 1213812819;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE choose_answers (
            person INTEGER NOT NULL,
            position INTEGER NOT NULL,
            side TEXT NOT NULL CHECK (side IN ('left', 'right')),
            choice TEXT NOT NULL CHECK (choice IN ('first', 'second')),
            seconds REAL NOT NULL,
            away INTEGER NOT NULL,
            answered TEXT NOT NULL,
            PRIMARY KEY (person, position),
            FOREIGN KEY (person, position) REFERENCES choose_plan (person, position)
        ) WITHOUT ROWID;
INSERT INTO "choose_answers" VALUES(1,0,'left','second',0.25,0,'2026-11-19T22:58:48.513+00:00');
INSERT INTO "choose_answers" VALUES(1,1,'right','first',1.25,0,'2026-11-19T22:58:48.518+00:00');
INSERT INTO "choose_answers" VALUES(1,2,'left','first',2.25,0,'2026-11-19T22:58:48.521+00:00');
INSERT INTO "choose_answers" VALUES(1,3,'right','first',3.25,1,'2026-11-19T22:58:48.525+00:00');
INSERT INTO "choose_answers" VALUES(1,4,'left','second',4.25,0,'2026-11-19T22:58:48.529+00:00');
INSERT INTO "choose_answers" VALUES(1,5,'right','second',5.25,0,'2026-11-19T22:58:48.532+00:00');
INSERT INTO "choose_answers" VALUES(1,6,'left','first',6.25,0,'2026-11-19T22:58:48.541+00:00');
INSERT INTO "choose_answers" VALUES(2,0,'left','second',0.25,0,'2026-11-19T22:58:48.550+00:00');
INSERT INTO "choose_answers" VALUES(2,1,'right','first',1.25,0,'2026-11-19T22:58:48.558+00:00');
CREATE TABLE choose_facts (person INTEGER NOT NULL REFERENCES choose_people (id), name TEXT NOT NULL, value TEXT NOT NULL, made TEXT NOT NULL, PRIMARY KEY (person, name)) WITHOUT ROWID;
INSERT INTO "choose_facts" VALUES(1,'about','{"Vision": "normal"}','2026-11-19T22:58:48.504+00:00');
INSERT INTO "choose_facts" VALUES(1,'consent','7d0a4e665fd531106cb43677f7568d8cfb81c99d92710d760a407105a57c048c','2026-11-19T22:58:48.494+00:00');
INSERT INTO "choose_facts" VALUES(2,'about','{"Vision": "normal"}','2026-11-19T22:58:48.546+00:00');
INSERT INTO "choose_facts" VALUES(2,'consent','7d0a4e665fd531106cb43677f7568d8cfb81c99d92710d760a407105a57c048c','2026-11-19T22:58:48.545+00:00');
CREATE TABLE choose_people (
            id INTEGER PRIMARY KEY,
            token TEXT NOT NULL UNIQUE,
            seed TEXT NOT NULL,
            made TEXT NOT NULL
        );
INSERT INTO "choose_people" VALUES(1,'r3SngGC30YL9Cy6C6G8F6bjh5yv8eIRw','4 1','2026-11-19T22:58:48.482+00:00');
INSERT INTO "choose_people" VALUES(2,'7znhy4vUK8VUAeyLjYsrYuSbPzJqG1G4','4 2','2026-11-19T22:58:48.487+00:00');
CREATE TABLE choose_plan (
            person INTEGER NOT NULL REFERENCES choose_people (id),
            position INTEGER NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('practice', 'trial', 'check')),
            question TEXT NOT NULL,
            mirrored INTEGER NOT NULL,
            PRIMARY KEY (person, position)
        ) WITHOUT ROWID;
INSERT INTO "choose_plan" VALUES(1,0,'practice','obvious holiday-3',0);
INSERT INTO "choose_plan" VALUES(1,1,'trial','04',1);
INSERT INTO "choose_plan" VALUES(1,2,'check','obvious holiday-1',1);
INSERT INTO "choose_plan" VALUES(1,3,'trial','03',1);
INSERT INTO "choose_plan" VALUES(1,4,'check','obvious holiday-2',0);
INSERT INTO "choose_plan" VALUES(1,5,'trial','02',0);
INSERT INTO "choose_plan" VALUES(1,6,'trial','01',0);
INSERT INTO "choose_plan" VALUES(2,0,'practice','obvious holiday-3',0);
INSERT INTO "choose_plan" VALUES(2,1,'trial','02',1);
INSERT INTO "choose_plan" VALUES(2,2,'trial','03',0);
INSERT INTO "choose_plan" VALUES(2,3,'check','obvious holiday-2',0);
INSERT INTO "choose_plan" VALUES(2,4,'trial','01',1);
INSERT INTO "choose_plan" VALUES(2,5,'trial','04',0);
INSERT INTO "choose_plan" VALUES(2,6,'check','obvious holiday-0',0);
CREATE TABLE choose_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "choose_settings" VALUES('secret','c4867b34a55eba2cebcd85018491e42ed94bc45da2e204133b5489a900797f03');
INSERT INTO "choose_settings" VALUES('trials','fdb3fbbfad83caf5b3a61bdba459ad1c98ee9f29db4ed8bd45df5adfeb2f30ec');
CREATE TABLE schemas (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "schemas" VALUES('choose',2);
INSERT INTO "schemas" VALUES('studio',2);
CREATE TABLE studio_addresses (page TEXT PRIMARY KEY, base TEXT NOT NULL, port INTEGER NOT NULL, token TEXT) WITHOUT ROWID;
CREATE TABLE studio_adjudications (page TEXT, item TEXT, number INTEGER, value TEXT NOT NULL, made TEXT NOT NULL, PRIMARY KEY (page, item, number)) WITHOUT ROWID;
CREATE TABLE studio_flags (page TEXT, person TEXT, item TEXT, note TEXT NOT NULL, skipped INTEGER NOT NULL, made TEXT NOT NULL, PRIMARY KEY (page, person, item)) WITHOUT ROWID;
CREATE TABLE studio_outputs (path BLOB PRIMARY KEY, sha256 TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE studio_supervisors (page TEXT PRIMARY KEY, secret TEXT NOT NULL) WITHOUT ROWID;
COMMIT;
