package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which names of databases are let in. */
class DatabaseNameTest {
    private static Connection connect(TestServer server, String user, String database) throws SQLException {
        return DriverManager.getConnection("jdbc:postgresql://localhost:" + server.port() + "/" + database, user, "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"millrace", "postgres"})
    void theDatabaseIsLetInUnderItsNamesAndThatOfTheRole(String name) throws Exception {
        try (TestServer server = new TestServer();
                Connection connection = connect(server, "millrace", name);
                var rows = connection.createStatement().executeQuery("SELECT current_database()")) {
            rows.next();
            assertEquals(name, rows.getString(1));
            connection.createStatement().execute("CREATE ROLE ann LOGIN");
            connect(server, "ann", "ann").close();
            assertEquals(
                    "3D000",
                    assertThrows(SQLException.class, () -> connect(server, "millrace", "ann"))
                            .getSQLState());
        }
    }

    @Test
    void anyOtherIsNot() throws Exception {
        try (TestServer server = new TestServer()) {
            SQLException refused = assertThrows(SQLException.class, () -> connect(server, "millrace", "nosuch"));
            assertEquals("3D000", refused.getSQLState());
            assertEquals(
                    "FATAL: database \"nosuch\" does not exist",
                    refused.getMessage().lines().findFirst().orElseThrow());
        }
    }
}
