-- A store of layout 2, written by version 0.1.0 before layout 3 came: six cells, one of them failed.
PRAGMA application_id = 1213812801;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE cells (
        signature TEXT NOT NULL,
        system TEXT NOT NULL,
        image TEXT NOT NULL,
        run INTEGER NOT NULL REFERENCES runs (id),
        position INTEGER NOT NULL,
        files TEXT NOT NULL,
        tally INTEGER REFERENCES tallies (id),
        reason TEXT,
        detail TEXT,
        PRIMARY KEY (signature, system, image)
    ) WITHOUT ROWID;
INSERT INTO "cells" VALUES('numbers|v:1','canny','image 0',1,0,'{"prediction": "/somewhere/canny-0.txt", "truths": ["/somewhere/truth-0.txt"], "extras": [], "picture": null}',1,NULL,NULL);
INSERT INTO "cells" VALUES('numbers|v:1','canny','image 1',1,1,'{"prediction": "/somewhere/canny-1.txt", "truths": ["/somewhere/truth-1.txt"], "extras": [], "picture": null}',2,NULL,NULL);
INSERT INTO "cells" VALUES('numbers|v:1','canny','image 2',1,2,'{"prediction": "/somewhere/canny-2.txt", "truths": ["/somewhere/truth-2.txt"], "extras": [], "picture": null}',3,NULL,NULL);
INSERT INTO "cells" VALUES('numbers|v:1','sobel','image 0',1,3,'{"prediction": "/somewhere/sobel-0.txt", "truths": ["/somewhere/truth-0.txt"], "extras": [], "picture": null}',4,NULL,NULL);
INSERT INTO "cells" VALUES('numbers|v:1','sobel','image 1',1,4,'{"prediction": "/somewhere/sobel-1.txt", "truths": ["/somewhere/truth-1.txt"], "extras": [], "picture": null}',5,NULL,NULL);
INSERT INTO "cells" VALUES('numbers|v:1','sobel','image 2',1,5,'{"prediction": "/somewhere/sobel-2.txt", "truths": ["/somewhere/truth-2.txt"], "extras": [], "picture": null}',NULL,'sobel-2.txt: expected numbers','');
CREATE TABLE files (
        path TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,
        digest BLOB NOT NULL
    ) WITHOUT ROWID;
CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        signature TEXT NOT NULL,
        code TEXT NOT NULL,
        started TEXT NOT NULL,
        ended TEXT,
        status TEXT NOT NULL,
        about TEXT NOT NULL
    );
INSERT INTO "runs" VALUES(1,'numbers|v:1','0.1.0+layout2','2026-11-15T12:31:14+00:00','2026-11-15T12:31:14+00:00','finished','{"command": "evaluate", "folder": "/somewhere", "machine": "a machine", "versions": {"hyperacuity": "0.1.0", "python": "3.11.7", "numpy": "2.4.6", "scipy": "1.17.1", "numba": "0.68.1", "pillow": "13.0.0", "h5py": "3.16.0"}, "workers": 1, "job": {"signature": "numbers|v:1", "dawdle": 0.0}}');
CREATE TABLE tallies (
        id INTEGER PRIMARY KEY,
        signature TEXT NOT NULL,
        system TEXT NOT NULL,
        image TEXT NOT NULL,
        inputs BLOB NOT NULL,
        code TEXT NOT NULL,
        tally BLOB NOT NULL,
        UNIQUE (signature, system, image, inputs, code)
    );
INSERT INTO "tallies" VALUES(1,'numbers|v:1','canny','image 0',X'B1DB4CCE0D096417DF250C6AE9F15CB79AD088F6','0.1.0+layout2',X'7B22636F756E74223A5B223C6938222C5B325D5D2C2273756D73223A5B223C6638222C5B325D5D7D0A789C6362800046066420E6006301000394005A');
INSERT INTO "tallies" VALUES(2,'numbers|v:1','canny','image 1',X'55AE0DC880C6A9176129A112E5B2269A0E684EC3','0.1.0+layout2',X'7B22636F756E74223A5B223C6938222C5B325D5D2C2273756D73223A5B223C6638222C5B325D5D7D0A789C6362800046066420E500A13FD8030005DB018D');
INSERT INTO "tallies" VALUES(3,'numbers|v:1','canny','image 2',X'E5B09E524C0AF2267EB2894CDB9144A81E6B6FAC','0.1.0+layout2',X'7B22636F756E74223A5B223C6938222C5B325D5D2C2273756D73223A5B223C6638222C5B325D5D7D0A789C6362800046066420E70065380000042400A2');
INSERT INTO "tallies" VALUES(4,'numbers|v:1','sobel','image 0',X'B1DB4CCE0D096417DF250C6AE9F15CB79AD088F6','0.1.0+layout2',X'7B22636F756E74223A5B223C6938222C5B325D5D2C2273756D73223A5B223C6638222C5B325D5D7D0A789C6362800046066420E6006301000394005A');
INSERT INTO "tallies" VALUES(5,'numbers|v:1','sobel','image 1',X'55AE0DC880C6A9176129A112E5B2269A0E684EC3','0.1.0+layout2',X'7B22636F756E74223A5B223C6938222C5B325D5D2C2273756D73223A5B223C6638222C5B325D5D7D0A789C6362800046066420E500A13FD8030005DB018D');
COMMIT;
