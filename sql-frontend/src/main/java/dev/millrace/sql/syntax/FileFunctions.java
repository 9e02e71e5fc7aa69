package dev.millrace.sql.syntax;

import java.util.Map;
import java.util.Optional;

/** Functions in FROM that give the rows of files, by the names that DuckDB has for them. */
public final class FileFunctions {
    /** A call of the name of files that stands in FROM by itself; no user's function is called so. */
    public static final String BY_NAME = "files by name";

    private static final Map<String, String> FUNCTIONS = Map.of(
            BY_NAME,
            "",
            "read_csv",
            "read_csv",
            "read_csv_auto",
            "read_csv",
            "read_json",
            "read_json",
            "read_json_auto",
            "read_json",
            "read_ndjson",
            "read_json",
            "read_ndjson_auto",
            "read_json",
            "read_parquet",
            "read_parquet",
            "parquet_scan",
            "read_parquet",
            "read_arrow",
            "read_arrow");

    private FileFunctions() {}

    /** Whether a function reads files. */
    public static boolean isOne(String function) {
        return FUNCTIONS.containsKey(function);
    }

    /** The name by which a function is known that may be called by others, too; empty for files by their name. */
    public static Optional<String> plain(String function) {
        return Optional.ofNullable(FUNCTIONS.get(function));
    }
}
