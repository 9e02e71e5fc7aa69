-- Fire alarm: temperature that rises from reading to reading, at least five times, each time by much the same, as a row pattern.
SELECT started, alarmed, first_temperature, last_temperature
FROM mote MATCH_RECOGNIZE (
    ORDER BY ts
    MEASURES cold.ts AS started, LAST(rise.ts) AS alarmed, cold.temperature AS first_temperature,
        LAST(rise.temperature) AS last_temperature
    ONE ROW PER MATCH
    AFTER MATCH SKIP TO NEXT ROW
    PATTERN (cold rise{5})
    DEFINE rise AS temperature - PREV(temperature) BETWEEN 0.005 AND 0.105
) AS fires
