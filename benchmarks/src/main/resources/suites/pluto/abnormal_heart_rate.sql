-- Abnormal heart rate: half minutes in which more than a tenth of the heart rates measured are above 130.
WITH passes AS (
    SELECT seconds, 60 / (seconds - lag(seconds) OVER (ORDER BY seconds)) AS rate
    FROM (
        SELECT DISTINCT seconds
        FROM (SELECT seconds, ii, lag(ii) OVER (ORDER BY seconds, ii, v, pleth) AS before FROM ecg) AS samples
        WHERE ii >= 0.8 AND before < 0.8
    ) AS upwards
), beats AS (
    SELECT * FROM passes WHERE rate BETWEEN 30 AND 220
)
SELECT floor(seconds / 30) * 30 AS since, count(*) AS beats, count(*) FILTER (WHERE rate > 130) AS high
FROM beats
GROUP BY floor(seconds / 30)
HAVING count(*) FILTER (WHERE rate > 130) > 0.1 * count(*)
