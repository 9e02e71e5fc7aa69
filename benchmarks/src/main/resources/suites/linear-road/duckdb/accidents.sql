SELECT xway, direction, segment, position, min(minute), max(minute)
FROM accident_minutes
GROUP BY ALL
