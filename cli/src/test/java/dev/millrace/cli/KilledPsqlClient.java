package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * psql, which writes to a table and to a stream that keeps its rows, over all processes of a server that is killed: alone and in
 * transactions. What it was told is there once, in both. One thread at a time. Where there is no psql it writes nothing.
 */
final class KilledPsqlClient {
    static final List<String> DEFINITIONS = List.of(
            "CREATE TABLE p (n BIGINT PRIMARY KEY)",
            "CREATE STREAM kept (n BIGINT) WITH (retention = 'forever')",
            "CREATE MATERIALIZED VIEW passed AS SELECT n, count(*) AS c FROM kept GROUP BY n");

    private final Optional<Path> psql = Stream.of(System.getenv("PATH").split(":"))
            .map(folder -> Path.of(folder, "psql"))
            .filter(Files::isExecutable)
            .findFirst();
    private final Set<Long> answered = new HashSet<>();
    private long sent;

    boolean isThere() {
        return psql.isPresent();
    }

    long answered() {
        return answered.size();
    }

    /** Writes until the server is dead. */
    void write(ServerProcess server) {
        if (psql.isEmpty()) {
            return;
        }
        String url = "postgresql://millrace@localhost:" + server.port() + "/millrace?sslmode=disable";
        try {
            Process process = new ProcessBuilder(psql.get().toString(), "-X", "-v", "ON_ERROR_STOP=1", "-d", url)
                    .redirectErrorStream(true)
                    .start();
            try (BufferedWriter in = process.outputWriter(StandardCharsets.UTF_8);
                    BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
                boolean isTold = true;
                while (isTold) {
                    long n = ++sent;
                    String table = "INSERT INTO p VALUES (" + n + ");";
                    String stream = "INSERT INTO kept VALUES (" + n + ");";
                    in.write(n % 2 == 0 ? "BEGIN;" + table + stream + "COMMIT;\n" : stream + "\n" + table + "\n");
                    in.flush();
                    List<String> tags = n % 2 == 0
                            ? List.of("BEGIN", "INSERT 0 1", "INSERT 0 1", "COMMIT")
                            : List.of("INSERT 0 1", "INSERT 0 1");
                    for (int i = 0; i < tags.size() && isTold; i++) {
                        isTold = tags.get(i).equals(out.readLine());
                    }
                    if (isTold) {
                        answered.add(n);
                    }
                }
            } catch (IOException dead) {
                return;
            } finally {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** While nobody writes. */
    void check(Statement statement, String seed) throws SQLException {
        Set<Long> inTable = once(statement, "SELECT n, 1 FROM p", seed);
        Set<Long> inStream = once(statement, "SELECT n, 1 FROM kept", seed);
        assertEquals(inStream, once(statement, "SELECT n, c FROM passed", seed), "of the view and the past, " + seed);
        Set<Long> apart = new TreeSet<>(inTable);
        apart.removeAll(inStream);
        assertEquals(Set.of(), apart, "in the table, and not in the stream, " + seed);
        apart.addAll(inStream);
        apart.removeAll(inTable);
        assertTrue(apart.stream().allMatch(n -> n % 2 == 1), () -> "half of a transaction: " + apart + ", " + seed);
        Set<Long> lost = new TreeSet<>(answered);
        lost.removeAll(inTable);
        assertEquals(Set.of(), lost, "lost of psql, " + seed);
        assertTrue(inStream.stream().allMatch(n -> n <= sent), "nobody wrote that, " + seed);
    }

    private static Set<Long> once(Statement statement, String query, String seed) throws SQLException {
        Set<Long> numbers = new TreeSet<>();
        try (ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                assertEquals(1, rows.getLong(2), query + " counts one twice, " + seed);
                assertTrue(numbers.add(rows.getLong(1)), query + " has one twice, " + seed);
            }
        }
        return numbers;
    }
}
