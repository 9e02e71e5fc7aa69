package dev.millrace.connectors.jdbc;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** What differs between databases in the statements that are sent to them. Told by the beginning of a JDBC address. */
enum Dialect {
    POSTGRESQL(
            "PostgreSQL", List.of("jdbc:postgresql:"), '"', true, Map.of("reWriteBatchedInserts", "true"), List.of()),
    MYSQL(
            "MySQL",
            List.of("jdbc:mariadb:", "jdbc:mysql:"),
            '`',
            true,
            Map.of("rewriteBatchedStatements", "true"),
            List.of("SET SESSION time_zone = '+00:00'")),
    SQLITE("SQLite", List.of("jdbc:sqlite:"), '"', false, Map.of(), List.of("PRAGMA busy_timeout = 2000")),
    DUCKDB("DuckDB", List.of("jdbc:duckdb:"), '"', false, Map.of(), List.of("SET TimeZone = 'UTC'"));

    private final String title;
    private final List<String> addresses;
    private final char quote;
    private final boolean isServer;
    private final Map<String, String> properties;
    private final List<String> opening;

    /**
     * @param addresses what its JDBC addresses begin with
     * @param isServer whether users log in to it
     * @param properties of its driver that we want where the address does not say otherwise
     * @param opening statements for a new connection
     */
    Dialect(
            String title,
            List<String> addresses,
            char quote,
            boolean isServer,
            Map<String, String> properties,
            List<String> opening) {
        this.title = title;
        this.addresses = addresses;
        this.quote = quote;
        this.isServer = isServer;
        this.properties = properties;
        this.opening = opening;
    }

    /**
     * The dialect of a database at an address.
     *
     * @throws MillraceException 22023 if there is none
     */
    static Dialect of(String url) {
        return Arrays.stream(values())
                .filter(dialect -> dialect.addresses.stream().anyMatch(url::startsWith))
                .findFirst()
                .orElseThrow(() -> MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "option \"url\" must be the JDBC address of a database that connector jdbc knows")
                        .withHint("it begins with "
                                + Arrays.stream(values())
                                        .flatMap(dialect -> dialect.addresses.stream())
                                        .collect(Collectors.joining(", "))));
    }

    /** Its name, for users. */
    String title() {
        return title;
    }

    boolean isServer() {
        return isServer;
    }

    Map<String, String> properties() {
        return properties;
    }

    List<String> opening() {
        return opening;
    }

    /** Whether all values can be given as texts, of which the database makes what its columns want. */
    boolean takesTexts() {
        return this == POSTGRESQL;
    }

    /** Whether an upsert by what is no key is refused when it is prepared; else keys are looked up. */
    boolean checksKeys() {
        return this == SQLITE || this == DUCKDB;
    }

    /** A name as it is: case counts, where it does in the database. */
    String quoted(String name) {
        String twice = String.valueOf(quote) + quote;
        return quote + name.replace(String.valueOf(quote), twice) + quote;
    }

    /** The name of a table, behind that of its schema and a point if it has one. */
    String table(String name) {
        return Arrays.stream(name.split("\\.", -1)).map(this::quoted).collect(Collectors.joining("."));
    }

    private String columns(List<String> names) {
        return names.stream().map(this::quoted).collect(Collectors.joining(", "));
    }

    /** Selects columns of all rows. */
    String select(String table, List<String> columns) {
        return "SELECT " + columns(columns) + " FROM " + table(table);
    }

    String insert(String table, List<String> columns) {
        String values = columns.stream().map(column -> "?").collect(Collectors.joining(", "));
        return "INSERT INTO " + table(table) + " (" + columns(columns) + ") VALUES (" + values + ")";
    }

    /** Inserts a row, or puts it in the place of the one of its key. */
    String upsert(String table, List<String> columns, List<String> key) {
        List<String> others =
                columns.stream().filter(column -> !key.contains(column)).toList();
        String insert = insert(table, columns);
        if (this == MYSQL) { // which does not ask by which key
            String set = (others.isEmpty() ? key : others)
                    .stream()
                            .map(column -> quoted(column) + " = VALUES(" + quoted(column) + ")")
                            .collect(Collectors.joining(", "));
            return insert + " ON DUPLICATE KEY UPDATE " + set;
        }
        String set = others.stream()
                .map(column -> quoted(column) + " = excluded." + quoted(column))
                .collect(Collectors.joining(", "));
        return insert + " ON CONFLICT (" + columns(key) + ") DO " + (set.isEmpty() ? "NOTHING" : "UPDATE SET " + set);
    }

    String delete(String table, List<String> key) {
        return "DELETE FROM " + table(table) + " WHERE "
                + key.stream().map(column -> quoted(column) + " = ?").collect(Collectors.joining(" AND "));
    }

    /** Makes a table of a text, which is its key, and a number, if it is not there. */
    String createNumbers(String table, String text, String number) {
        return "CREATE TABLE IF NOT EXISTS " + table(table) + " (" + quoted(text) + " VARCHAR(200) PRIMARY KEY, "
                + quoted(number) + " BIGINT NOT NULL)";
    }

    /** What the driver is called in Maven's repositories, if it does not come with Millrace. */
    Optional<String> driver() {
        return switch (this) {
            case POSTGRESQL -> Optional.empty();
            case MYSQL -> Optional.of("org.mariadb.jdbc:mariadb-java-client");
            case SQLITE -> Optional.of("org.xerial:sqlite-jdbc");
            case DUCKDB -> Optional.of("org.duckdb:duckdb_jdbc");
        };
    }
}
