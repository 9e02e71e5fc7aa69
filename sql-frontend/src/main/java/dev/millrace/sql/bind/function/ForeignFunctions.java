package dev.millrace.sql.bind.function;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Functions that people know from Flink, RisingWave and other systems, and what says the same here. */
public final class ForeignFunctions {
    private static final String WINDOWS =
            "windows are in FROM: SELECT window_start, .. FROM %s GROUP BY window_start, window_end";
    private static final String CLOCK =
            "now() is the time as it goes on, in a condition on a time; proctime() when a row was read";

    private static final Map<String, String> OURS = new HashMap<>();

    static {
        for (String function : new String[] {"tumble", "hop", "cumulate", "session"}) {
            String ours = WINDOWS.formatted(WindowArguments.usage(function).replace(" [, offset] [, timezone]", ""));
            for (String part : new String[] {"", "_start", "_end", "_rowtime", "_proctime"}) {
                OURS.put(function + part, ours);
            }
        }
        OURS.put(
                "current_watermark",
                "late rows are left out by themselves and shown in millrace.late_rows; millrace.watermarks has"
                        + " the watermarks");
        OURS.put("match_proctime", "MATCH_ROWTIME()");
        OURS.put(
                "time_bucket_gapfill",
                "it is an expression of GROUP BY: GROUP BY time_bucket_gapfill(width, ts), device");
        for (String fill : new String[] {"locf", "interpolate"}) {
            OURS.put(
                    fill,
                    fill + "(x) OVER (PARTITION BY .. ORDER BY ts); " + fill
                            + "(avg(x)) with GROUP BY time_bucket_gapfill(width, ts); GAP_FILL in FROM");
        }
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
        String ranges = "two columns for the bounds: x >= low AND x < high; (a, b) OVERLAPS (c, d) for times";
        for (String range : new String[] {
            "int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange", "range_agg", "range_merge"
        }) {
            OURS.put(range, ranges);
        }
        for (String map : new String[] {
            "map",
            "map_from_entries",
            "map_keys",
            "map_values",
            "map_entries",
            "map_extract",
            "map_extract_value",
            "map_contains",
            "map_concat",
            "element_at"
        }) {
            OURS.put(
                    map,
                    "JSONB: jsonb_object_agg(key, value) or jsonb_build_object makes one; j -> 'key', jsonb_each(j)");
        }
        OURS.put(
                "histogram",
                "jsonb_object_agg(x, n) FROM (SELECT x, count(*) AS n FROM .. GROUP BY x) of the values; of bins"
                        + " GROUP BY width_bucket(x, low, high, bins)");
        OURS.put("approx_top_k", "SELECT x, count(*) FROM .. GROUP BY x ORDER BY 2 DESC LIMIT k, which is exact");
        OURS.put(
                "list_reduce", "list_sum, list_product, list_max, list_string_agg; (SELECT .. FROM unnest(l) AS t(x))");
        OURS.put("array_reduce", OURS.get("list_reduce"));
        OURS.put("reduce", OURS.get("list_reduce"));
        OURS.put("list_zip", "unnest(a, b) AS t(x, y) in FROM puts lists side by side");
        OURS.put("list_histogram", "SELECT x, count(*) FROM unnest(list) AS t(x) GROUP BY x");
        OURS.put("try", "TRY_CAST(x AS type) for casts; a / nullif(b, 0) for a division");
        OURS.put("printf", "format('%s', x) with %s, %10s and %-10s; to_char(x, '990.00') for digits");
        OURS.put("hash", "hashes differ from release to release; md5(x::text), or crc32(x::text::bytea) as a number");
        OURS.put("hashtext", OURS.get("hash"));
        OURS.put(
                "uuid",
                "it would give another value each time; compute it where the row is made, or md5(id::text)::uuid");
        OURS.put("gen_random_bytes", OURS.get("uuid"));
        OURS.put("random_normal", OURS.get("uuid"));
        OURS.put("array_shuffle", "array_sort(list), which is the same each time");
        OURS.put("array_sample", "(array_sort(list))[1:n], which is the same each time");
        OURS.put("jsonb_populate_recordset", "it stands in FROM; jsonb_to_recordset(j) AS r(a INTEGER, b TEXT)");
        OURS.put("json_populate_recordset", OURS.get("jsonb_populate_recordset"));
        OURS.put("json_array", "jsonb_build_array(a, b)");
        OURS.put("json_merge_patch", "a || b, for the keys at the top");
        OURS.put("json_transform", "jsonb_to_record(j) AS r(a INTEGER, b TEXT)");
        OURS.put("json_structure", "jsonb_typeof(j), of members jsonb_each(j)");
        OURS.put("is_json", "json_valid(text)");
        OURS.put("to_tsvector", "text ~* 'a pattern', or string_to_array(lower(text), ' ') @> ARRAY['word']");
        OURS.put("to_tsquery", OURS.get("to_tsvector"));
        OURS.put("trim_scale", "x::numeric(12, 2): a column of NUMERIC has one scale");
        OURS.put("left_grapheme", "left(text, n), in characters");
        OURS.put("right_grapheme", "right(text, n), in characters");
        OURS.put("length_grapheme", "length(text), in characters");
        OURS.put("substring_grapheme", "substring(text, from, count), in characters");
        OURS.put("like_escape", "text LIKE pattern ESCAPE '$'");
        OURS.put("not_like_escape", "text NOT LIKE pattern ESCAPE '$'");
        OURS.put("ilike_escape", "text ILIKE pattern ESCAPE '$'");
        OURS.put("not_ilike_escape", "text NOT ILIKE pattern ESCAPE '$'");
        OURS.put("struct_insert", "{'a': s.a, 'b': new value}");
        OURS.put("error", "a CHECK of the table refuses rows; a condition leaves them out");
        OURS.put("getvariable", "write the value, or pass it as a parameter: $1");
        OURS.put("round_even", "round(x::double precision), which rounds a half to the even number");
        OURS.put("to_changelog", "SUBSCRIBE TO shows changes; a sink writes them, with op '+' and '-'");
        OURS.put("from_changelog", "CREATE TABLE, and INSERT, UPDATE or DELETE its rows");
    }

    private ForeignFunctions() {}

    /** What to write instead of a call of a function that there is not. */
    public static Optional<String> ours(String name) {
        return Optional.ofNullable(OURS.get(name));
    }
}
