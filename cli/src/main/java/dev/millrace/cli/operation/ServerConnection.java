package dev.millrace.cli.operation;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Properties;

/** Connections of programs that ask a server; each the caller's. */
public final class ServerConnection {
    private static final String PASSWORD_VARIABLE = "PGPASSWORD";
    public static final String PASSWORD_NOTE =
            "The password for a server is that of " + PASSWORD_VARIABLE + ", if it is set.";

    private ServerConnection() {}

    /** @param server {@code host:port}, or a URL of JDBC */
    public static Connection open(String server, String user) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        Optional.ofNullable(System.getenv(PASSWORD_VARIABLE))
                .ifPresent(password -> properties.setProperty("password", password));
        return DriverManager.getConnection(
                server.startsWith("jdbc:") ? server : "jdbc:millrace://" + server, properties);
    }
}
