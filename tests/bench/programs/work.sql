-- A fixed amount of work, timed by the shell itself.
.timer on
DROP TABLE IF EXISTS t;
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
INSERT INTO t SELECT i, printf('%08x', i * 2654435761 % 4294967296), i % 97 FROM n;
CREATE INDEX by_b ON t(b);
SELECT count(*), min(b), max(b) FROM t WHERE b LIKE '%a%';
SELECT count(*) FROM t x JOIN t y ON x.c = y.a WHERE y.b > x.b;
SELECT c, sum(length(b)), group_concat(substr(b, 1, 2)) FROM t GROUP BY c ORDER BY 2 DESC LIMIT 1;
UPDATE t SET b = upper(b) WHERE c % 3 = 0;
DELETE FROM t WHERE c = 5;
SELECT count(*), total(c) FROM t;
