-- columns: text, timestamp, text, double, double, text, double
SELECT source, ts, json_extract_string(senml, '$.e[0].sv'), CAST(json_extract_string(senml, '$.e[1].v') AS DOUBLE),
    CAST(json_extract_string(senml, '$.e[2].v') AS DOUBLE), json_extract_string(senml, '$.e[3].sv'),
    CAST(json_extract_string(senml, '$.bt') AS DOUBLE)
FROM answer
