package dev.millrace.sql.bind;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Functions that people know from Flink, RisingWave and other systems, and what says the same here. */
final class ForeignFunctions {
    private static final String WINDOWS =
            "windows are in FROM: SELECT window_start, .. FROM %s GROUP BY window_start, window_end";
    private static final String CLOCK =
            "now() is the time as it goes on, in a condition on a time; proctime() when a row was read";

    private static final Map<String, String> OURS = new HashMap<>();

    static {
        for (String function : new String[] {"tumble", "hop", "cumulate", "session"}) {
            String ours = WINDOWS.formatted(WindowArguments.usage(function).replace(" [, offset]", ""));
            for (String part : new String[] {"", "_start", "_end", "_rowtime", "_proctime"}) {
                OURS.put(function + part, ours);
            }
        }
        OURS.put(
                "current_watermark",
                "late rows are left out by themselves and shown in millrace.late_rows; millrace.watermarks has"
                        + " the watermarks");
        OURS.put("match_proctime", "MATCH_ROWTIME()");
        OURS.put("mz_now", CLOCK);
        OURS.put("mz_logical_timestamp", CLOCK);
        OURS.put("current_row_timestamp", CLOCK);
        OURS.put("unix_timestamp", "extract(epoch FROM time)");
        OURS.put("from_unixtime", "to_timestamp(seconds)");
        OURS.put("to_timestamp_ltz", "to_timestamp(seconds); of milliseconds to_timestamp(ms / 1000.0)");
        OURS.put("date_format", "to_char(time, 'YYYY-MM-DD')");
        OURS.put("timestampdiff", "extract(epoch FROM a - b) is the distance in seconds");
        OURS.put("timestampadd", "time + INTERVAL '1 day'");
        OURS.put("listagg", "string_agg(value, ',' ORDER BY ..)");
        OURS.put("collect", "array_agg(value)");
        OURS.put("ifnull", "coalesce(a, b)");
        OURS.put("if", "CASE WHEN condition THEN a ELSE b END");
        OURS.put("grouping_id", "grouping(a, b)");
        OURS.put("to_changelog", "SUBSCRIBE TO shows changes; a sink writes them, with op '+' and '-'");
        OURS.put("from_changelog", "CREATE TABLE, and INSERT, UPDATE or DELETE its rows");
    }

    private ForeignFunctions() {}

    /** What to write instead of a call of a function that there is not. */
    static Optional<String> ours(String name) {
        return Optional.ofNullable(OURS.get(name));
    }
}
