-- All kinds of joins and sub-queries over a (id, k, v), b and c: each as a view over tables that change, against the oracle.

-- notin
SELECT id FROM a WHERE k NOT IN (SELECT k FROM b)

-- notin2
SELECT id FROM a WHERE k NOT IN (SELECT k FROM c)

-- notin3
SELECT id FROM a WHERE k NOT IN (SELECT k FROM b WHERE k > 100)

-- notincorr
SELECT id FROM a WHERE k NOT IN (SELECT k FROM b WHERE b.v > a.v)

-- inor
SELECT id FROM a WHERE k IN (SELECT k FROM b) OR v = 20

-- existsor
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k) OR v = 20

-- notexistsor
SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k) OR v = 10

-- nexistsnoneq
SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.v > a.v)

-- notinor
SELECT id FROM a WHERE k NOT IN (SELECT k FROM b) OR v = 20

-- insel
SELECT id, k IN (SELECT k FROM b) FROM a

-- notinsel
SELECT id, k NOT IN (SELECT k FROM b) FROM a

-- existssel
SELECT id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) FROM a

-- case
SELECT id, CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.v) THEN 'y' ELSE 'n' END FROM a

-- scalar
SELECT id, (SELECT max(v) FROM b WHERE b.k = a.k) FROM a

-- scalarcount
SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k) FROM a

-- scalarcount2
SELECT id, (SELECT count(*) + 1 FROM b WHERE b.k < a.k) FROM a

-- scalarplain
SELECT id, (SELECT v FROM c WHERE c.id = a.id) FROM a

-- scalarlimit
SELECT id, (SELECT v FROM b WHERE b.k = a.k ORDER BY v DESC LIMIT 1) FROM a

-- lateral
SELECT id, x FROM a, LATERAL (SELECT max(v) x FROM b WHERE b.k = a.k) s

-- lateralleft
SELECT id, x FROM a LEFT JOIN LATERAL (SELECT v x FROM b WHERE b.k = a.k) s ON true

-- lateraltop
SELECT id, x FROM a, LATERAL (SELECT v x FROM b WHERE b.k = a.k ORDER BY v DESC LIMIT 1) s

-- laterallefttop
SELECT id, x FROM a LEFT JOIN LATERAL (SELECT v x FROM b WHERE b.k = a.k ORDER BY v DESC LIMIT 1) s ON true

-- lateralon
SELECT id, x FROM a LEFT JOIN LATERAL (SELECT v x FROM b WHERE b.k = a.k) s ON s.x > a.v

-- all
SELECT id FROM a WHERE v >= ALL (SELECT v FROM b WHERE b.k = a.k)

-- any
SELECT id FROM a WHERE v > ANY (SELECT v FROM b)

-- anycorr
SELECT id FROM a WHERE v >= ANY (SELECT v FROM b WHERE b.k = a.k)

-- eqall
SELECT id FROM a WHERE v = ALL (SELECT v FROM b WHERE b.k = a.k)

-- nested
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND EXISTS (SELECT 1 FROM c WHERE c.k = b.k AND c.v = a.v))

-- nested2
SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k AND b.v IN (SELECT v FROM c WHERE c.k = a.k))

-- having
SELECT k, count(*) FROM b GROUP BY k HAVING count(*) > (SELECT count(*) FROM a WHERE a.k = b.k)

-- havingexists
SELECT k, count(*) FROM b GROUP BY k HAVING EXISTS (SELECT 1 FROM a WHERE a.k = b.k)

-- groupsel
SELECT k, (SELECT max(v) FROM a WHERE a.k = b.k) FROM b GROUP BY k

-- union
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k UNION ALL SELECT 1 FROM c WHERE c.v = a.v)

-- joinon
SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c WHERE c.k = b.k)

-- joinon2
SELECT a.id, b.id AS other FROM a JOIN b ON a.k = b.k AND b.v IN (SELECT v FROM c)

-- rowin
SELECT id FROM a WHERE (k, v) IN (SELECT k, v FROM b)

-- existsagg
SELECT id FROM a WHERE EXISTS (SELECT count(*) FROM b WHERE b.k = a.k)

-- existsgroup
SELECT id FROM a WHERE EXISTS (SELECT k FROM b WHERE b.v > a.v GROUP BY k HAVING count(*) > 1)

-- indistinct
SELECT id FROM a WHERE v IN (SELECT DISTINCT v FROM b WHERE b.k <= a.k)

-- scalarjoin
SELECT id, (SELECT sum(b.v + c.v) FROM b JOIN c ON b.k = c.k WHERE b.k = a.k) FROM a

-- scalarunc
SELECT id, (SELECT max(v) FROM b) - v FROM a

-- scalarone
SELECT id, (SELECT v FROM b WHERE id = 1) FROM a

-- scalarempty
SELECT id, (SELECT v FROM b WHERE id = 99) FROM a

-- twolevel
SELECT id FROM a WHERE k IN (SELECT k FROM b WHERE v IN (SELECT v FROM c WHERE c.id = a.id))

-- lateral2
SELECT a.id, s.n, t.m FROM a, LATERAL (SELECT count(*) n FROM b WHERE b.k = a.k) s, LATERAL (SELECT max(v) m FROM c WHERE c.v > s.n) t

-- existsbetween
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.v BETWEEN a.v - 5 AND a.v + 5)

-- notand
SELECT id FROM a WHERE NOT (k IN (SELECT k FROM b) AND v = 10)

-- crossjoin
SELECT a.id, b.id AS other FROM a CROSS JOIN b

-- nonequi
SELECT a.id, b.id AS other FROM a JOIN b ON a.v < b.v

-- nonequileft
SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.v < b.v

-- nonequiright
SELECT a.id, b.id AS other FROM a RIGHT JOIN b ON a.v < b.v AND a.k <> b.k

-- nonequifull
SELECT a.id, b.id AS other FROM a FULL JOIN b ON a.v < b.v AND a.id <> b.id

-- leftresidual
SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.k = b.k AND a.v < b.v

-- rightresidual
SELECT a.id, b.id AS other FROM a RIGHT JOIN b ON a.k = b.k AND a.v < b.v

-- fullresidual
SELECT a.id, b.id AS other FROM a FULL JOIN b ON a.k = b.k AND a.v <= b.v

-- fullplain
SELECT a.id, a.k, b.id AS other FROM a FULL JOIN b ON a.k = b.k

-- leftonesided
SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.k = b.k AND a.v > 10

-- usingone
SELECT k, a.id, b.id AS other FROM a JOIN b USING (k)

-- usingfull
SELECT k, a.id, b.id AS other FROM a FULL JOIN b USING (k)

-- usingtwo
SELECT k, v, a.id, b.id AS other FROM a LEFT JOIN b USING (k, v)

-- naturaljoin
SELECT * FROM (SELECT k, v FROM a) AS x NATURAL JOIN (SELECT k, id FROM b) AS y

-- naturalleft
SELECT * FROM (SELECT k, v FROM a) AS x NATURAL LEFT JOIN (SELECT k, id FROM b) AS y

-- selfjoin
SELECT x.id, y.id AS other FROM a x JOIN a y ON x.k = y.v

-- selfleft
SELECT x.id, y.id AS other FROM a x LEFT JOIN a y ON x.k = y.k AND x.id < y.id

-- threeway
SELECT a.id, b.id AS bid, c.id AS cid FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k

-- threeouter
SELECT a.id, b.id AS bid, c.id AS cid FROM a LEFT JOIN b ON a.k = b.k FULL JOIN c ON b.k = c.k

-- joinaggregates
SELECT x.k, x.n, y.s FROM (SELECT k, count(*) AS n FROM a GROUP BY k) AS x FULL JOIN (SELECT k, sum(v) AS s FROM b GROUP BY k) AS y ON x.k = y.k

-- expressionkeys
SELECT a.id, b.id AS other FROM a JOIN b ON a.k + 1 = b.k * 2

-- orkeys
SELECT a.id, b.id AS other FROM a JOIN b ON a.k = b.k AND a.v = 1 OR a.k = b.k AND b.v = 2

-- isnotdistinct
SELECT a.id, b.id AS other FROM a JOIN b ON a.k IS NOT DISTINCT FROM b.k

-- isnotdistinctleft
SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.k IS NOT DISTINCT FROM b.k

-- crossaggregate
SELECT a.id, s.n FROM a, (SELECT count(*) AS n FROM b) AS s

-- lateralcount
SELECT id, n FROM a, LATERAL (SELECT count(*) AS n FROM b WHERE b.k = a.k) AS s

-- lateralinneron
SELECT id, x FROM a JOIN LATERAL (SELECT max(v) AS x FROM b WHERE b.k = a.k) AS s ON s.x > a.v

-- lateralleftagg
SELECT id, x FROM a LEFT JOIN LATERAL (SELECT max(v) AS x FROM b WHERE b.k = a.k) AS s ON s.x > a.v

-- asof
SELECT a.id, b.id AS other FROM a ASOF JOIN b ON a.k = b.k AND a.id >= b.id

-- asofleft
SELECT a.id, b.id AS other, b.v FROM a ASOF LEFT JOIN b ON a.k = b.k AND a.id > b.id

-- asoflater
SELECT a.id, b.id AS other FROM a ASOF JOIN b ON a.k = b.k AND a.id <= b.id

-- asoffiltered
SELECT a.id, b.id AS other FROM a ASOF JOIN b ON a.k = b.k AND a.id >= b.id WHERE b.v > 2 AND a.v < 4

-- asofcomputed
SELECT a.id, b.id AS other FROM a ASOF JOIN b ON a.k + 1 = b.k AND a.id + 3 >= b.id

-- asofofview
SELECT x.k, x.m, b.id AS other FROM (SELECT k, max(id) AS m FROM a GROUP BY k) AS x ASOF JOIN b ON x.k = b.k AND x.m >= b.id
