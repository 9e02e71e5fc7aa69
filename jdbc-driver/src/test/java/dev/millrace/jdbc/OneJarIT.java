package dev.millrace.jdbc;

import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.pgwire.PgServer;
import dev.millrace.server.pgwire.PgServerOptions;
import dev.millrace.server.session.Database;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The jar with all that a client needs, alone on the class path of a program. Runs once it is packaged ({@code mvn verify}). */
@Timeout(300)
class OneJarIT {
    private static final String JAR = "millrace.jdbc.jar";
    private static final String PROGRAM = """
            import java.sql.*;

            public class Client {
                public static void main(String[] args) throws SQLException {
                    try (Connection connection = DriverManager.getConnection(args[0]);
                            Statement statement = connection.createStatement()) {
                        System.out.println(connection.getMetaData().getDatabaseProductName());
                        statement.execute("CREATE STREAM s (v BIGINT)");
                        statement.execute("CREATE MATERIALIZED VIEW total AS SELECT sum(v) AS v FROM s");
                        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO s VALUES (?)")) {
                            for (long v : new long[] {40, 2}) {
                                insert.setLong(1, v);
                                insert.addBatch();
                            }
                            insert.executeBatch();
                        }
                        for (String sql : new String[] {"SELECT v FROM total", "SUBSCRIBE TO total WITH (SNAPSHOT)"}) {
                            try (ResultSet rows = statement.executeQuery(sql)) {
                                rows.next();
                                System.out.println(rows.getLong("v"));
                            }
                        }
                    }
                    try {
                        DriverManager.getConnection("jdbc:millrace:mem:inside");
                    } catch (SQLException e) {
                        System.out.println(e.getMessage());
                    }
                }
            }
            """;

    @TempDir
    Path folder;

    @Test
    @EnabledIfSystemProperty(named = JAR, matches = ".+", disabledReason = "the jar is made later")
    void itHoldsTheDriverAndPgjdbcAndNothingElse() throws Exception {
        try (JarFile jar = new JarFile(System.getProperty(JAR))) {
            assertEquals(
                    Set.of("dev/millrace/jdbc", "org/postgresql"),
                    jar.stream()
                            .map(JarEntry::getName)
                            .filter(name -> name.endsWith(".class"))
                            .map(name -> name.replaceAll(
                                    "(?:META-INF/versions/[0-9]+/)?(dev/millrace/[^/]+|org/[^/]+)/.*", "$1"))
                            .collect(toSet()));
            assertTrue(jar.isMultiRelease(), "pgjdbc has classes for newer releases of Java");
            assertEquals(
                    Set.of("dev.millrace.jdbc.MillraceDriver", "org.postgresql.Driver"),
                    new String(
                                    jar.getInputStream(jar.getEntry("META-INF/services/java.sql.Driver"))
                                            .readAllBytes(),
                                    StandardCharsets.UTF_8)
                            .lines()
                            .collect(toSet()));
        }
    }

    @Test
    @EnabledIfSystemProperty(named = JAR, matches = ".+", disabledReason = "the jar is made later")
    void aProgramConnectsWithThisJarAlone() throws Exception {
        Path source = Files.writeString(folder.resolve("Client.java"), PROGRAM);
        try (Database database = Millrace.open();
                PgServer server = PgServer.listen(database, PgServerOptions.local(0))) {
            Process client = new ProcessBuilder(
                            System.getProperty("java.home") + "/bin/java",
                            "-cp",
                            System.getProperty(JAR),
                            source.toString(),
                            "jdbc:millrace://localhost:" + server.port() + "/millrace")
                    .redirectErrorStream(true)
                    .start();
            String said = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(client.waitFor(60, TimeUnit.SECONDS));
            assertEquals("""
                    Millrace
                    42
                    42
                    a database inside this program needs dev.millrace:server on the class path, which is not there
                    """, said);
        }
    }
}
