-- Monitor new users: people who opened an auction in the ten seconds in which they appeared.
SELECT p.id, p.name, p.starttime
FROM (
    SELECT id, name, window_start AS starttime, window_end AS endtime
    FROM TUMBLE(TABLE person, DESCRIPTOR(datetime), INTERVAL '10 seconds')
    GROUP BY id, name, window_start, window_end
) p
JOIN (
    SELECT seller, window_start AS starttime, window_end AS endtime
    FROM TUMBLE(TABLE auction, DESCRIPTOR(datetime), INTERVAL '10 seconds')
    GROUP BY seller, window_start, window_end
) a
ON p.id = a.seller AND p.starttime = a.starttime AND p.endtime = a.endtime
