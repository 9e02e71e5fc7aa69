package dev.millrace.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.postgresql.jdbc.PgConnection;
import org.postgresql.jdbc.PgDatabaseMetaData;

/** pgjdbc's meta data under our name. What the database says about its relations and types is PostgreSQL's catalog. */
final class MillraceMetaData extends PgDatabaseMetaData {
    private static final Pattern VERSION = Pattern.compile("Millrace ([0-9]+)\\.([0-9]+)[^ )]*");

    private final Connection shown;
    private final MillraceUrl url;

    /** @param shown the connection as its user sees it */
    MillraceMetaData(PgConnection postgresql, Connection shown, MillraceUrl url) {
        super(postgresql);
        this.shown = shown;
        this.url = url;
    }

    private Matcher version() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT version()")) {
            row.next();
            Matcher version = VERSION.matcher(row.getString(1));
            if (!version.find()) {
                throw new SQLException("the server is not Millrace: " + row.getString(1), "08001");
            }
            return version;
        }
    }

    @Override
    public String getDatabaseProductName() {
        return "Millrace";
    }

    @Override
    public String getDatabaseProductVersion() throws SQLException {
        return version().group().substring("Millrace ".length());
    }

    @Override
    public int getDatabaseMajorVersion() throws SQLException {
        return Integer.parseInt(version().group(1));
    }

    @Override
    public int getDatabaseMinorVersion() throws SQLException {
        return Integer.parseInt(version().group(2));
    }

    @Override
    public String getSQLKeywords() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT string_agg(word, ',' ORDER BY word) FROM pg_catalog.pg_get_keywords()")) {
            row.next();
            return row.getString(1);
        }
    }

    @Override
    public String getDriverName() {
        return MillraceDriver.NAME;
    }

    @Override
    public String getDriverVersion() {
        return MillraceDriver.driverVersion();
    }

    @Override
    public int getDriverMajorVersion() {
        return new MillraceDriver().getMajorVersion();
    }

    @Override
    public int getDriverMinorVersion() {
        return new MillraceDriver().getMinorVersion();
    }

    @Override
    public String getURL() {
        return url.text();
    }

    @Override
    public Connection getConnection() {
        return shown;
    }
}
