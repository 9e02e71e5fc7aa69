-- Cars that stand: four reports in a row from one place, as a row pattern.
SELECT vehicle, xway, direction, lane, position, since, until
FROM positions MATCH_RECOGNIZE (
    PARTITION BY vehicle ORDER BY ts
    MEASURES
        here.xway AS xway, here.direction AS direction, here.lane AS lane, here.position AS position,
        here.time AS since, LAST(still.time) AS until
    ONE ROW PER MATCH
    AFTER MATCH SKIP TO NEXT ROW
    PATTERN (here still{3})
    DEFINE still AS position = PREV(position) AND lane = PREV(lane) AND direction = PREV(direction) AND xway = PREV(xway)
) AS standing
