-- One query a line: near misses of rewrites, and combinations that no golden file has.
SELECT auction, price FROM bid WHERE price > 5 AND auction < bidder ORDER BY price DESC LIMIT 3
SELECT bidder, max(price), min(price) FROM bid GROUP BY bidder HAVING bidder > 1 AND max(price) < 9000
SELECT * FROM (SELECT bidder, count(*) n FROM bid GROUP BY bidder) g WHERE n > 1 AND bidder < 4
SELECT window_start, window_end, count(*) FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '20 seconds') GROUP BY window_start, window_end HAVING count(*) > 2
SELECT window_start + INTERVAL '1 second', count(*) FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '4 seconds', INTERVAL '10 seconds') WHERE price > 3 GROUP BY window_start
SELECT window_end, max(window_end - datetime) FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') GROUP BY window_end
SELECT window_end, count(*) FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') WHERE datetime + INTERVAL '3 seconds' < window_end GROUP BY window_end
SELECT bidder, window_end, sum(price) FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(datetime), INTERVAL '4 seconds') WHERE price > 3 AND bidder < 4 GROUP BY bidder, window_end
SELECT bidder, window_start, count(*) FILTER (WHERE price > 2), max(price) FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(datetime), INTERVAL '4 seconds') WHERE auction > 1 GROUP BY bidder, window_start
SELECT window_end, max(n) FROM (SELECT bidder, window_start, window_end, count(*) n FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(datetime), INTERVAL '4 seconds') GROUP BY bidder, window_start, window_end) s GROUP BY window_end
SELECT window_start, max(n) FROM (SELECT bidder, window_start, window_end, count(*) n FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(datetime), INTERVAL '4 seconds') GROUP BY bidder, window_start, window_end) s GROUP BY window_start
SELECT b.auction, b.price FROM bid b JOIN (SELECT max(price) m, window_start ws, window_end we FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') GROUP BY window_start, window_end) x ON b.price = x.m WHERE b.datetime >= x.ws AND b.datetime < x.we
SELECT b.auction, b.price FROM bid b JOIN (SELECT min(price) m, window_start ws, window_end we FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') GROUP BY window_start, window_end) x ON b.price <= x.m WHERE b.datetime >= x.ws AND b.datetime <= x.we
SELECT b.auction, b.price, x.we FROM bid b JOIN (SELECT max(price) m, window_start ws, window_end we FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') GROUP BY window_start, window_end) x ON b.price = x.m AND b.datetime >= x.ws AND b.datetime < x.we WHERE b.bidder > 1
SELECT b.auction, b.price, x.we FROM bid b JOIN (SELECT max(price) m, window_start ws, window_end we FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') GROUP BY window_start, window_end) x ON b.price = x.m AND b.datetime >= x.we - INTERVAL '10 seconds' AND b.datetime <= x.we
SELECT b.auction, b.price FROM bid b JOIN (SELECT max(price) m, bidder, window_end we FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') GROUP BY bidder, window_end) x ON b.price = x.m AND b.bidder = x.bidder AND b.datetime >= x.we - INTERVAL '10 seconds' AND b.datetime < x.we
SELECT b.auction, b.price FROM bid b JOIN (SELECT max(price) m, window_end we FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') WHERE bidder > 1 GROUP BY window_end) x ON b.price = x.m AND b.datetime >= x.we - INTERVAL '10 seconds' AND b.datetime < x.we
SELECT b.auction, b.price FROM bid b JOIN (SELECT max(price) m, window_end we FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') WHERE bidder > 1 GROUP BY window_end) x ON b.price = x.m AND b.datetime >= x.we - INTERVAL '10 seconds' AND b.datetime < x.we WHERE b.bidder > 1 AND b.auction < 4
SELECT b.auction, b.price FROM bid b JOIN (SELECT max(price) m, window_end we FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') GROUP BY window_end) x ON b.price = x.m AND b.datetime >= x.we - INTERVAL '20 seconds' AND b.datetime < x.we
SELECT b.auction, b.price, b.window_end FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') b JOIN (SELECT max(price) m, window_start, window_end FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') GROUP BY window_start, window_end) x ON b.price = x.m AND b.window_start = x.window_start AND b.window_end = x.window_end
SELECT b.auction, b.price, x.window_end FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') b JOIN (SELECT max(price) m, window_start, window_end FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') GROUP BY window_start, window_end) x ON b.price = x.m AND b.datetime >= x.window_start AND b.datetime < x.window_end
SELECT r.device, r.temp, x.window_end FROM TUMBLE(TABLE reading, DESCRIPTOR(ts), INTERVAL '10 seconds') r JOIN (SELECT max(temp) m, window_end FROM TUMBLE(TABLE reading, DESCRIPTOR(ts), INTERVAL '10 seconds') GROUP BY window_end) x ON r.temp >= x.m AND r.window_end = x.window_end
SELECT r.device, r.temp, x.m FROM reading r JOIN (SELECT max(temp) m, humidity h, window_end we FROM TUMBLE(TABLE reading, DESCRIPTOR(ts), INTERVAL '10 seconds') GROUP BY humidity, window_end) x ON r.temp = x.m AND r.humidity = x.h AND r.ts >= x.we - INTERVAL '10 seconds' AND r.ts < x.we
SELECT a.auction, a.n, m.top FROM (SELECT auction, count(*) n, window_start s, window_end e FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') GROUP BY auction, window_start, window_end) a JOIN (SELECT max(n) top, e FROM (SELECT count(*) n, window_end e FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') GROUP BY auction, window_end) c GROUP BY e) m ON a.e = m.e AND a.n = m.top
SELECT a.auction, a.n FROM (SELECT auction, count(*) n, window_start s, window_end e FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') GROUP BY auction, window_start, window_end) a JOIN (SELECT min(n) least, s, e FROM (SELECT count(*) n, window_start s, window_end e FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds') GROUP BY auction, window_start, window_end) c GROUP BY s, e) m ON a.s = m.s AND m.least >= a.n
SELECT a.auction, a.n FROM (SELECT auction, count(*) n, window_end e FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') GROUP BY auction, window_end) a JOIN (SELECT max(n) top, e FROM (SELECT count(*) n, window_end e FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds') WHERE price > 2 GROUP BY auction, window_end) c GROUP BY e) m ON a.e = m.e AND a.n >= m.top
SELECT window_end, bidder, price FROM (SELECT *, RANK() OVER (PARTITION BY window_end ORDER BY price DESC) r FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds')) x WHERE r <= 2 AND price > 1
SELECT * FROM (SELECT bidder, price, DENSE_RANK() OVER (PARTITION BY bidder ORDER BY price) d, RANK() OVER (ORDER BY price) r FROM bid) x WHERE d <= 2 AND r > 1 AND r < 6
SELECT DISTINCT bidder, auction FROM bid WHERE price > 1
SELECT count(DISTINCT bidder), count(DISTINCT auction), sum(DISTINCT price), sum(price), min(price), count(*) FROM bid
SELECT channel, count(DISTINCT bidder) FILTER (WHERE price > 2), avg(price), count(DISTINCT price) FROM bid GROUP BY channel
SELECT channel, count(DISTINCT bidder), sum(auction), max(price) FILTER (WHERE auction > 1) FROM bid GROUP BY channel
SELECT device, site FROM device WHERE site IS NULL OR site = 'roof'
SELECT r.device, d.limit_c FROM reading r LEFT JOIN device d ON r.device = d.device AND r.temp > d.limit_c WHERE d.limit_c IS NULL
SELECT r.device, d.limit_c FROM reading r LEFT JOIN device d ON r.device = d.device WHERE d.limit_c > 20
SELECT r.device, d.site, r.temp FROM reading r FULL JOIN device d ON r.device = d.device AND r.temp > 30
SELECT r.device, d.site FROM reading r RIGHT JOIN device d ON r.device = d.device WHERE d.site = 'roof'
SELECT a.device, b.device FROM device a FULL JOIN device b ON a.site = b.site WHERE a.limit_c > 1 OR b.limit_c < 3
SELECT device FROM reading WHERE temp > (SELECT avg(temp) FROM reading)
SELECT device, temp FROM reading r WHERE EXISTS (SELECT 1 FROM device d WHERE d.device = r.device AND d.limit_c > 20)
SELECT device FROM reading WHERE device NOT IN (SELECT device FROM device WHERE site = 'roof')
SELECT site, count(*) FROM (SELECT site FROM device UNION ALL SELECT device FROM reading WHERE temp > 30) u GROUP BY site
SELECT device FROM reading EXCEPT SELECT site FROM device
SELECT site, limit_c FROM device INTERSECT SELECT device, temp FROM reading
SELECT device, temp, count(*) FROM reading GROUP BY GROUPING SETS ((device), (temp), ())
SELECT device, count(*) FROM reading GROUP BY CUBE (device, humidity)
SELECT p.window_end, p.id, a.reserve FROM (SELECT id, window_start, window_end FROM TUMBLE(TABLE person, DESCRIPTOR(datetime), INTERVAL '10 seconds') GROUP BY id, window_start, window_end) p JOIN TUMBLE(TABLE auction, DESCRIPTOR(datetime), INTERVAL '10 seconds') a ON p.id = a.seller AND p.window_start = a.window_start
SELECT x.b, y.c FROM (SELECT bidder b, max(price) p FROM bid GROUP BY bidder) x JOIN (SELECT channel c, min(price) p FROM bid GROUP BY channel) y ON x.p = y.p
SELECT 1 + x, upper(t) FROM (VALUES (1, 'a'), (2, 'b'), (NULL, NULL)) v (x, t) WHERE x IS NOT NULL
SELECT max(price) FROM (SELECT price, bidder FROM bid ORDER BY price LIMIT 3) t
SELECT a.auction FROM bid a, bid b WHERE a.auction = b.bidder AND a.price > b.price AND a.bidder = 1 AND b.auction < 3
SELECT auction FROM bid ORDER BY price LIMIT 0
SELECT auction, price FROM bid ORDER BY price OFFSET 2
SELECT auction, r FROM (SELECT auction, RANK() OVER (PARTITION BY bidder ORDER BY price) r FROM bid) x WHERE r > 1
SELECT a.bidder, a.n FROM (SELECT bidder, count(*) n, window_start s, window_end e FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(datetime), INTERVAL '4 seconds') GROUP BY bidder, window_start, window_end) a JOIN (SELECT max(n) top, s, e FROM (SELECT count(*) n, window_start s, window_end e FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(datetime), INTERVAL '4 seconds') GROUP BY bidder, window_start, window_end) c GROUP BY s, e) m ON a.s = m.s AND a.e = m.e AND a.n >= m.top
SELECT device, window_start, avg(temp), count(*) FROM TUMBLE(TABLE past, DESCRIPTOR(ts), INTERVAL '10 seconds') WHERE temp > 1 GROUP BY device, window_start, window_end
SELECT window_start, window_end, max(temp) FROM HOP(TABLE past, DESCRIPTOR(ts), INTERVAL '4 seconds', INTERVAL '10 seconds') GROUP BY window_start, window_end
SELECT window_end, sum(load) FROM CUMULATE(TABLE past, DESCRIPTOR(ts), INTERVAL '2 seconds', INTERVAL '6 seconds') GROUP BY window_start, window_end
SELECT device, count(*), sum(load * 2 + 1), min(temp), stddev_pop(temp) FROM past WHERE load > 1 OR temp IS NULL GROUP BY device HAVING count(*) > 1
SELECT count(*), max(temp) FROM past WHERE ts >= TIMESTAMP '1970-01-01 00:00:05' AND ts < TIMESTAMP '1970-01-01 00:00:15'
SELECT count(*) FILTER (WHERE ts > TIMESTAMP '1970-01-01 00:00:07'), count(*) FILTER (WHERE TIMESTAMP '1970-01-01 00:00:09' >= ts) FROM past
SELECT CASE WHEN ts = TIMESTAMP '1970-01-01 00:00:10' THEN 1 ELSE 2 END AS c, count(*) FROM past GROUP BY c
SELECT date_trunc('minute', ts), date_trunc('second', ts + INTERVAL '1 second'), count(*) FROM past GROUP BY 1, 2
SELECT date_trunc('minute', ts) AS m, extract(hour FROM ts) AS h, ts::date AS d, max(load) FROM past GROUP BY m, h, d
SELECT date_bin(INTERVAL '7 seconds', ts, TIMESTAMP '1970-01-01 00:00:03') AS b, count(temp) FROM past GROUP BY b
SELECT max(ts), count(*) FROM past WHERE load > 1
SELECT DISTINCT device, load FROM past WHERE ts < TIMESTAMP '1970-01-01 00:00:12'
SELECT device, count(DISTINCT load), percentile_disc(0.5) WITHIN GROUP (ORDER BY load) FROM past GROUP BY device
SELECT d.site, count(*), sum(p.load) FROM past p JOIN device d ON p.device = d.device WHERE p.ts > TIMESTAMP '1970-01-01 00:00:03' GROUP BY d.site
SELECT d.site, w.window_start, count(*) FROM TUMBLE(TABLE past, DESCRIPTOR(ts), INTERVAL '10 seconds') w JOIN device d ON w.device = d.device GROUP BY d.site, w.window_start
SELECT a.device, count(*) FROM past a JOIN past b ON a.device = b.device GROUP BY a.device
SELECT x.device, n, count(*) FROM (SELECT device, load AS n, ts FROM past WHERE load < 4) x GROUP BY x.device, n
SELECT device, string_agg(load::text, ',') FROM past GROUP BY device
SELECT ts, count(*) FROM past GROUP BY ts
