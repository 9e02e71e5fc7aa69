package dev.millrace.sql.bind.type;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Types that PostgreSQL, DuckDB or Flink have and Millrace has not, with the nearest that it has. */
final class ForeignTypes {
    private static final Map<String, String> INSTEAD = new TreeMap<>();

    static {
        instead("NUMERIC(19, 2), with the sign of the currency beside it", "money");
        instead("TEXT; json values have JSONB, whose parts can be asked for", "xml");
        instead("TEXT", "inet", "cidr", "macaddr", "macaddr8", "citext", "enum", "tsvector", "tsquery", "nvarchar");
        instead("TEXT, or BYTEA", "bit", "varbit");
        instead("two columns of type DOUBLE PRECISION, or ROW(x DOUBLE PRECISION, y DOUBLE PRECISION)", "point");
        instead(
                "columns of type DOUBLE PRECISION, or JSONB",
                "line",
                "lseg",
                "box",
                "path",
                "polygon",
                "circle",
                "geometry",
                "geography");
        for (String of : List.of("int4", "int8", "num", "ts", "tstz", "date")) {
            instead(
                    "two columns, where it begins and where it ends: x >= low AND x < high; (a, b) OVERLAPS (c, d)",
                    of + "range",
                    of + "multirange");
        }
        instead("a materialized view follows every change", "trigger", "event_trigger");
        instead(
                "RETURNS the type that there is",
                "internal",
                "language_handler",
                "fdw_handler",
                "anyelement",
                "anyarray",
                "record");
        instead("JSONB", "hstore", "map", "variant");
        instead("ROW(name type, ..)", "struct");
        instead("an array, such as INTEGER[]", "multiset", "list");
        instead("NUMERIC(20)", "xid8");
        instead("BIGINT", "xid");
        instead("TIMESTAMPTZ", "timestamp_ltz");
        instead("BIGINT of nanoseconds: times have microseconds", "timestamp_ns");
    }

    private ForeignTypes() {}

    private static void instead(String type, String... names) {
        for (String name : names) {
            INSTEAD.put(name, type);
        }
    }

    /** What to write in the place of such a type. */
    static Optional<String> instead(String name) {
        return Optional.ofNullable(INSTEAD.get(name));
    }
}
