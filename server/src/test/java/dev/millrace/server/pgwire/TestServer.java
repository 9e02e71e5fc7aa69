package dev.millrace.server.pgwire;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/**
 * A server over a database of its own, and connections to it by PostgreSQL's JDBC driver. Closing it fails if a byte was leaked.
 */
public final class TestServer implements AutoCloseable {
    private final Database database = Millrace.open();
    private PgServer server = PgServer.listen(database, PgServerOptions.local(0));

    public Database database() {
        return database;
    }

    public int port() {
        return server.port();
    }

    /** Listens anew, on another port, to whom these options let in. */
    void restart(PgServerOptions options) {
        server.close();
        server = PgServer.listen(database, options);
    }

    /** A connection of the user {@code millrace}; properties are names and values in turn, of the driver's. */
    public Connection connect(String... properties) throws SQLException {
        Properties all = new Properties();
        all.setProperty("user", "millrace");
        all.setProperty("socketTimeout", "60");
        for (int i = 0; i < properties.length; i += 2) {
            all.setProperty(properties[i], properties[i + 1]);
        }
        return DriverManager.getConnection("jdbc:postgresql://localhost:" + port() + "/millrace", all);
    }

    @Override
    public void close() {
        server.close();
        database.close();
    }
}
