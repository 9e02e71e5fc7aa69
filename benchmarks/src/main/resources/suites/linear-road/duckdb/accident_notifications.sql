SELECT c.vehicle, c.time, c.xway, c.direction, c.segment, min(abs(a.segment - c.segment))
FROM crossings AS c
JOIN accident_minutes AS a
    ON a.xway = c.xway AND a.direction = c.direction AND a.minute = c.minute - 1
WHERE (c.direction = 0 AND a.segment BETWEEN c.segment AND c.segment + 4)
    OR (c.direction = 1 AND a.segment BETWEEN c.segment - 4 AND c.segment)
GROUP BY ALL
