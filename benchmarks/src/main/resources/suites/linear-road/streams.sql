-- Position reports: each car says every 30 seconds where it is, on which expressway, lane (0 to enter, 4 to leave) and in
-- which direction (0 east, 1 west); a segment is a mile, positions are feet from the west end, speeds miles per hour.
-- ${events} reports, ${rate} per second of event time.
CREATE STREAM positions (
    ts TIMESTAMP NOT NULL, time INTEGER NOT NULL, vehicle BIGINT NOT NULL, speed INTEGER NOT NULL, xway INTEGER NOT NULL,
    lane INTEGER NOT NULL, direction INTEGER NOT NULL, segment INTEGER NOT NULL, position INTEGER NOT NULL,
    WATERMARK FOR ts AS ts
) WITH (connector = 'linear_road', events = ${events}, rate = ${rate});
