SELECT c.vehicle, c.time, c.xway, c.direction, c.segment, t.lav, coalesce(t.toll, 0)
FROM crossings AS c
LEFT JOIN tolls AS t USING (xway, direction, segment, minute)
