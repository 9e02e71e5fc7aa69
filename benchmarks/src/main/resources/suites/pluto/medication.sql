-- Medication management: minutes in which the depository was not between 24 and 32 degrees for more than half of the readings.
SELECT window_start, count(*) FILTER (WHERE temperature NOT BETWEEN 24 AND 32) AS outside, min(temperature) AS coldest,
    max(temperature) AS hottest
FROM TUMBLE(TABLE mote, DESCRIPTOR(ts), INTERVAL '1 minute')
GROUP BY window_start, window_end
HAVING count(*) FILTER (WHERE temperature NOT BETWEEN 24 AND 32) > count(*) / 2
