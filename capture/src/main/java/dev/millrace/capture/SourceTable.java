package dev.millrace.capture;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;

/**
 * A table of another database, and how that is reached. Immutable; connections that it makes are the caller's.
 *
 * @param password as it was written, with references, which are looked up when somebody logs in; so are the others
 * @param area its schema, or what MySQL calls its database
 * @param properties further ones, for Debezium
 * @param schema the columns that the table has here
 * @param key places of its primary key
 */
record SourceTable(
        String host,
        int port,
        String database,
        String user,
        Optional<String> password,
        String area,
        String name,
        Map<String, String> properties,
        Schema schema,
        List<Integer> key,
        Options.References references) {
    private static final String PREFIX = "properties.";
    private static final String TIMEOUT_SECONDS = "10";

    /**
     * Reads the options that all have.
     *
     * @param area where a table is that is given without
     */
    static SourceTable read(
            String table, Schema schema, List<Integer> key, Options options, int defaultPort, Optional<String> area) {
        String database = options.required("database");
        String[] parts = options.text("table", table).split("\\.", 2);
        Map<String, String> properties = new HashMap<>();
        for (String option : List.copyOf(options.names())) {
            if (option.startsWith(PREFIX)) {
                properties.put(option.substring(PREFIX.length()), options.required(option));
            }
        }
        Optional<String> password = options.text("password");
        password.ifPresent(text -> Options.OpenSecret.refuse("password", text));
        properties.forEach((name, text) -> {
            if (Options.OpenSecret.isNamed(name)) {
                Options.OpenSecret.refuse(PREFIX + name, text);
            }
        });
        return new SourceTable(
                options.text("host", "localhost"),
                (int) options.integer("port", defaultPort, 1, 65_535),
                database,
                options.required("user"),
                password,
                parts.length == 2 ? parts[0] : area.orElse(database),
                parts[parts.length - 1],
                Map.copyOf(properties),
                schema,
                List.copyOf(key),
                options.references());
    }

    /** What {@link #read} reads. */
    static List<OptionDescription> options(int defaultPort, String area) {
        return List.of(
                new OptionDescription("host", "localhost", "where the database is"),
                new OptionDescription("port", Integer.toString(defaultPort), "of it"),
                new OptionDescription("database", "", "its name"),
                new OptionDescription("user", "", "who logs in, and may follow the log"),
                new OptionDescription("password", "", "a reference, such as ${secret:name}"),
                new OptionDescription(
                        "table", "the table's name", "the table there, " + area + " before it and a point"),
                new OptionDescription("properties.<name>", "Debezium's", "any property of Debezium's connector"));
    }

    String resolvedHost() {
        return references.resolve(host);
    }

    String resolvedUser() {
        return references.resolve(user);
    }

    String resolvedPassword() {
        return password.map(references::resolve).orElse("");
    }

    /** For users. */
    @Override
    public String toString() {
        return area + "." + name + " at " + host + ":" + port;
    }

    /** A connection. @param url without who logs in */
    Connection connect(String url) throws SQLException {
        Properties login = new Properties();
        login.setProperty("user", resolvedUser());
        login.setProperty("password", resolvedPassword());
        if (url.startsWith("jdbc:postgresql:")) {
            login.setProperty("loginTimeout", TIMEOUT_SECONDS);
            login.setProperty("socketTimeout", TIMEOUT_SECONDS);
        } else {
            login.setProperty("connectTimeout", TIMEOUT_SECONDS + "000");
            login.setProperty("socketTimeout", TIMEOUT_SECONDS + "000");
        }
        return DriverManager.getConnection(url, login);
    }

    MillraceException failure(SQLException e) {
        return failure(String.valueOf(e.getMessage()));
    }

    /** What went wrong, as one line that names the table, without secrets. */
    MillraceException failure(String why) {
        String said = why.replaceAll("\\s+", " ").strip();
        String secret = resolvedPassword();
        return MillraceException.external(
                SqlState.CONNECTION_FAILURE, this + ": " + (secret.isEmpty() ? said : said.replace(secret, "..")));
    }

    /**
     * Looks whether the table is there, with these columns and this key.
     *
     * @throws MillraceException 42P01, 42703 or 42P16 if it is not so
     */
    void checkColumns(Connection connection, boolean areasAreCatalogs) throws SQLException {
        DatabaseMetaData data = connection.getMetaData();
        String catalog = areasAreCatalogs ? area : null;
        String schemaName = areasAreCatalogs ? null : area;
        Set<String> there = names(data.getColumns(catalog, schemaName, name, "%"));
        if (there.isEmpty()) {
            throw MillraceException.user(SqlState.UNDEFINED_TABLE, "there is no table " + this);
        }
        for (String column : schema.names()) {
            if (!there.contains(column)) {
                throw MillraceException.user(
                                SqlState.UNDEFINED_COLUMN, "there is no column \"" + column + "\" in " + this)
                        .withHint("there are: " + String.join(", ", there));
            }
        }
        Set<String> primary = names(data.getPrimaryKeys(catalog, schemaName, name));
        Set<String> wanted = new HashSet<>();
        key.forEach(column -> wanted.add(schema.field(column).name()));
        if (!primary.equals(wanted)) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "the primary key of " + this + " is (" + String.join(", ", new ArrayList<>(primary))
                                    + "), which that of the table has to be")
                    .withHint("rows are told from each other by it: a table without one cannot be followed");
        }
    }

    private static Set<String> names(ResultSet columns) throws SQLException {
        try (columns) {
            Set<String> names = new LinkedHashSet<>();
            while (columns.next()) {
                names.add(columns.getString("COLUMN_NAME"));
            }
            return names;
        }
    }
}
