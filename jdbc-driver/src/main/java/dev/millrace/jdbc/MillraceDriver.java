package dev.millrace.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections to Millrace. Safe on any thread.
 *
 * <pre>
 *   jdbc:millrace://host:5433/database      a server; several hosts as host1:5433,host2:5433
 *   jdbc:millrace:                          in memory, inside this program, shared by all its connections; ?workers=2 of the first of them
 *   jdbc:millrace:mem:NAME                  the same, another database for each name
 *   jdbc:millrace:/path/to/dir              inside this program, on a directory
 * </pre>
 *
 * A database inside this program lives as long as it has connections. Properties, in the URL behind {@code ?} or given apart,
 * are pgjdbc's; {@code user} is {@code millrace} unless given. Connections are pgjdbc's as well: {@code
 * unwrap(org.postgresql.PGConnection.class)} gives its COPY and the rest.
 */
public final class MillraceDriver implements Driver {
    static final String NAME = "Millrace JDBC Driver";
    private static final String VERSION = version();

    /** Made when it is first needed: a class path without it must not keep other drivers from being found. */
    private static final class Postgresql {
        static final org.postgresql.Driver DRIVER = new org.postgresql.Driver();
    }

    private static org.postgresql.Driver postgresql() {
        return Postgresql.DRIVER;
    }

    static {
        try {
            DriverManager.registerDriver(new MillraceDriver());
        } catch (SQLException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** @return null, as JDBC has it, for a URL of another driver */
    @Override
    public @Nullable Connection connect(String url, Properties info) throws SQLException {
        Optional<MillraceUrl> parsed = MillraceUrl.parse(url);
        if (parsed.isEmpty()) {
            return null;
        }
        return connect(parsed.get(), info);
    }

    private static Connection connect(MillraceUrl url, Properties info) throws SQLException {
        if (url.location().isEmpty()) {
            Endpoint server = () -> postgresql().connect(url.postgresql(), withDefaults(info));
            return ConnectionCalls.wrap(server.open(), server, url, () -> {});
        }
        try {
            return inProcess(url, url.location().get(), info);
        } catch (NoClassDefFoundError e) {
            throw new SQLFeatureNotSupportedException(
                    "a database inside this program needs dev.millrace:server on the class path, which is not there",
                    "0A000",
                    e);
        }
    }

    private static Connection inProcess(MillraceUrl url, String location, Properties info) throws SQLException {
        InProcess database =
                InProcess.open(location, org.postgresql.Driver.parseURL(url.postgresql(), withDefaults(info)));
        try {
            Properties properties = withDefaults(info);
            database.addTo(properties);
            Endpoint inside = () -> postgresql().connect(url.postgresql(), properties);
            return ConnectionCalls.wrap(inside.open(), inside, url, database::close);
        } catch (SQLException | RuntimeException e) {
            database.close();
            throw e;
        }
    }

    /** What is worth having unless it is asked for otherwise. */
    private static Properties withDefaults(Properties info) {
        Properties defaults = new Properties();
        defaults.setProperty("user", MillraceUrl.DEFAULT_NAME);
        defaults.setProperty("reWriteBatchedInserts", "true");
        Properties all = new Properties(defaults);
        info.stringPropertyNames().forEach(name -> all.setProperty(name, info.getProperty(name)));
        return all;
    }

    @Override
    public boolean acceptsURL(String url) throws SQLException {
        return MillraceUrl.parse(url).isPresent();
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) throws SQLException {
        Optional<MillraceUrl> parsed = MillraceUrl.parse(url);
        Properties given = withDefaults(info == null ? new Properties() : info);
        List<DriverPropertyInfo> all = new ArrayList<>();
        all.add(property("user", given, "the role to connect as"));
        all.add(property("password", given, "its password; none inside this program"));
        all.add(property(
                InProcess.WORKERS, given, "threads of a database inside this program; one per core by default"));
        Arrays.stream(postgresql()
                        .getPropertyInfo(parsed.map(MillraceUrl::postgresql).orElse("jdbc:postgresql:"), given))
                .filter(property -> all.stream().noneMatch(ours -> ours.name.equals(property.name)))
                .forEach(all::add);
        return all.toArray(DriverPropertyInfo[]::new);
    }

    private static DriverPropertyInfo property(String name, Properties given, String meaning) {
        DriverPropertyInfo property = new DriverPropertyInfo(name, given.getProperty(name));
        property.description = meaning;
        return property;
    }

    @Override
    public int getMajorVersion() {
        return number(0);
    }

    @Override
    public int getMinorVersion() {
        return number(1);
    }

    private static int number(int place) {
        return Integer.parseInt(VERSION.split("[.-]")[place]);
    }

    static String driverVersion() {
        return VERSION;
    }

    private static String version() {
        Properties properties = new Properties();
        try (InputStream in = MillraceDriver.class.getResourceAsStream("driver.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties.getProperty("version");
    }

    /** False, as PostgreSQL's driver says of itself: not all of SQL-92 is there. */
    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return postgresql().getParentLogger();
    }
}
