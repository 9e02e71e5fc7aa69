package dev.millrace.connectors.jdbc;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/**
 * Where a database is and who logs in: the options {@code url}, {@code user}, {@code password}, {@code properties.*} and {@code timeout}.
 * Immutable, safe on any thread; connections that it makes are the caller's.
 *
 * @param url as it was written, with references to secrets, which are looked up when a connection is made; so are the others
 * @param timeoutMillis that an answer is waited for
 */
record DatabaseAddress(
        String url,
        Optional<String> user,
        Optional<String> password,
        Map<String, String> properties,
        int timeoutMillis,
        Dialect dialect,
        Options.References references) {
    static final String PREFIX = "properties.";
    private static final int MOST_LOGIN_SECONDS = 10;

    DatabaseAddress {
        properties = Map.copyOf(properties);
    }

    static DatabaseAddress read(Options options) {
        String url = options.required("url");
        Optional<String> password = options.text("password");
        Map<String, String> properties = new HashMap<>();
        for (String name : List.copyOf(options.names())) {
            if (name.startsWith(PREFIX)) {
                properties.put(name.substring(PREFIX.length()), options.required(name));
            }
        }
        password.ifPresent(text -> Options.OpenSecret.refuse("password", text));
        properties.forEach((name, text) -> {
            if (Options.OpenSecret.isNamed(name)) {
                Options.OpenSecret.refuse(PREFIX + name, text);
            }
        });
        Options.OpenSecret.refuseInAddress("url", url);
        long timeoutMicros = options.durationMicros("timeout", TimeUnit.SECONDS.toMicros(30));
        if (timeoutMicros < 100_000 || timeoutMicros > TimeUnit.HOURS.toMicros(1)) {
            throw Options.invalid("timeout", options.text("timeout", ""), "from 100ms to 1h");
        }
        return new DatabaseAddress(
                url,
                options.text("user"),
                password,
                properties,
                (int) TimeUnit.MICROSECONDS.toMillis(timeoutMicros),
                Dialect.of(url),
                options.references());
    }

    /** What {@link #read} reads. */
    static List<OptionDescription> options() {
        return List.of(
                new OptionDescription("url", "", "the JDBC address, such as jdbc:postgresql://host:5432/database"),
                new OptionDescription("user", "the driver's", "who logs in"),
                new OptionDescription("password", "", "a reference, such as ${secret:name}"),
                new OptionDescription("properties.<name>", "the driver's", "any property of the driver"),
                new OptionDescription(
                        "timeout", "30s", "how long an answer is waited for before the connection is given up"));
    }

    /** For users; without properties, which may have secrets. */
    @Override
    public String toString() {
        int end = url.indexOf('?');
        return (end < 0 ? url : url.substring(0, end)).split(";", 2)[0];
    }

    /**
     * A connection that commits when it is told to. Waits some seconds at most.
     *
     * @throws SQLException as the driver says it, or 08001 where there is none
     * @throws MillraceException for a reference to what is not there
     */
    Connection connect() throws SQLException {
        Properties all = new Properties();
        dialect.properties().forEach((name, value) -> {
            if (!url.contains(name + "=")) {
                all.setProperty(name, value);
            }
        });
        if (dialect == Dialect.POSTGRESQL) {
            all.setProperty("loginTimeout", Integer.toString(MOST_LOGIN_SECONDS));
        } else if (dialect == Dialect.MYSQL) {
            all.setProperty("connectTimeout", Integer.toString(MOST_LOGIN_SECONDS * 1000));
        }
        properties.forEach((name, text) -> all.setProperty(name, references.resolve(text)));
        user.ifPresent(text -> all.setProperty("user", references.resolve(text)));
        password.ifPresent(text -> all.setProperty("password", references.resolve(text)));
        Connection connection = DriverManager.getConnection(references.resolve(url), all);
        try {
            setTimeout(connection);
            try (Statement statement = connection.createStatement()) {
                for (String opening : dialect.opening()) {
                    statement.execute(opening);
                }
            }
            connection.setAutoCommit(false);
            return connection;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private void setTimeout(Connection connection) throws SQLException {
        if (dialect.isServer()) {
            try {
                connection.setNetworkTimeout(Runnable::run, timeoutMillis);
            } catch (SQLFeatureNotSupportedException e) {
                // the driver's own applies
            }
        }
    }

    /** What the driver says, as one line, without what references stand for. */
    String reason(SQLException e) {
        String reason = DatabaseFailure.reason(e);
        if (reason.contains("No suitable driver")) {
            reason = "there is no JDBC driver for " + dialect.title() + " on the class path";
        }
        for (String text : secretTexts()) {
            String value = resolvedQuietly(text);
            if (!value.isEmpty() && !value.equals(text)) {
                reason = reason.replace(value, text);
            }
        }
        return reason;
    }

    private List<String> secretTexts() {
        List<String> texts = new ArrayList<>(properties.values());
        password.ifPresent(texts::add);
        texts.add(url);
        return texts;
    }

    private String resolvedQuietly(String text) {
        try {
            return references.resolve(text);
        } catch (MillraceException e) {
            return "";
        }
    }

    /** The failure as users see it: one line that names the database. */
    MillraceException failure(SQLException e) {
        MillraceException failure = MillraceException.external(SqlState.CONNECTION_FAILURE, this + ": " + reason(e));
        boolean lacksDriver = DatabaseFailure.reason(e).contains("No suitable driver");
        return lacksDriver && dialect.driver().isPresent()
                ? failure.withHint("put the jar of " + dialect.driver().get() + " into the folder plugins")
                : failure;
    }
}
