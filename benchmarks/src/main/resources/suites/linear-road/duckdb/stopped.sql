SELECT a.vehicle, a.xway, a.direction, a.lane, a.position, a.time, d.time
FROM positions AS a
JOIN positions AS b USING (vehicle, xway, direction, lane, position)
JOIN positions AS c USING (vehicle, xway, direction, lane, position)
JOIN positions AS d USING (vehicle, xway, direction, lane, position)
WHERE b.time = a.time + 30 AND c.time = a.time + 60 AND d.time = a.time + 90 AND d.ts < ${watermark}
