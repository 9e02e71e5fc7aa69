package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.cli.operation.VerifyCommand;
import dev.millrace.error.MillraceException;
import dev.millrace.server.operation.DirectoryVerification;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** A server with a data directory that dies without a warning. */
@Timeout(180)
@Tag("long")
class ServerDataTest {
    @TempDir
    Path folder;

    private ServerProcess start(String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "--port", "0", "--no-http", "--data", folder.resolve("data").toString()));
        arguments.addAll(List.of(more));
        return ServerProcess.start(arguments.toArray(String[]::new));
    }

    private static TreeSet<String> streams(Connection connection) throws SQLException {
        TreeSet<String> names = new TreeSet<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")) {
            while (rows.next()) {
                names.add(rows.getString(1));
            }
        }
        return names;
    }

    @Test
    void whatWasAnsweredIsThereAfterAKill() throws Exception {
        TreeSet<String> answered = new TreeSet<>();
        TreeSet<String> asked = new TreeSet<>();
        long seed = Long.getLong("seed", 1);
        System.out.println("kills, seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 3; round++) {
            try (ServerProcess server = start();
                    Connection connection = server.connect();
                    Statement statement = connection.createStatement()) {
                TreeSet<String> there = streams(connection);
                assertTrue(there.containsAll(answered), () -> "lost: " + without(answered, there));
                assertTrue(asked.containsAll(there), () -> "never asked for: " + without(there, asked));
                answered.addAll(there);
                asked.clear();
                asked.addAll(there);
                CountDownLatch some = new CountDownLatch(15 + random.nextInt(30));
                Thread killer = new Thread(() -> {
                    try {
                        some.await();
                        server.kill();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
                killer.start();
                try {
                    for (int i = 0; ; i++) {
                        String name = "s_" + round + "_" + i;
                        asked.add(name);
                        statement.execute("CREATE STREAM " + name + " (v BIGINT)");
                        answered.add(name);
                        some.countDown();
                    }
                } catch (SQLException dead) {
                    killer.join();
                }
            }
        }
        assertTrue(answered.size() >= 45, () -> "too few to mean anything: " + answered);
    }

    private static TreeSet<String> without(TreeSet<String> all, TreeSet<String> some) {
        TreeSet<String> rest = new TreeSet<>(all);
        rest.removeAll(some);
        return rest;
    }

    @Test
    void aSecondServerOnTheDirectoryIsRefusedInOneLineAndTheFirstSaysWhatIsKept() throws Exception {
        try (ServerProcess first = start()) {
            first.port();
            assertTrue(
                    first.lines().stream()
                            .anyMatch(line -> line.contains(
                                    " keeps all of it: definitions, rows, and what queries made of them")),
                    () -> first.lines().toString());
            try (Connection connection = first.connect();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "SELECT current_setting('port'), current_setting('ssl'), current_setting('data_directory'),"
                                    + " (SELECT setting FROM pg_settings WHERE name = 'port')")) {
                row.next();
                assertEquals(first.port(), row.getInt(1));
                assertEquals("on", row.getString(2));
                assertEquals(folder.resolve("data").toAbsolutePath().toString(), row.getString(3));
                assertEquals(first.port(), row.getInt(4));
            }
            try (ServerProcess second = start()) {
                assertEquals(1, second.awaitExit());
                assertEquals(1, second.lines().size(), () -> second.lines().toString());
                assertTrue(
                        second.lines().get(0).contains("is in use by process "),
                        () -> second.lines().toString());
            }
        }
    }

    /** A lock belongs to a process, and goes when any channel to its file is closed. */
    @Test
    void whoIsRefusedADirectoryTakesNothingFromWhoHasIt() throws Exception {
        DatabaseOptions options = DatabaseOptions.defaults().withData(folder.resolve("data"));
        try (Database first = Database.open(options)) {
            assertThrows(MillraceException.class, () -> Database.open(options));
            assertFalse(DirectoryVerification.run(folder.resolve("data")).user().isEmpty());
            try (ServerProcess other = start()) {
                assertEquals(1, other.awaitExit());
                assertTrue(
                        other.lines().get(0).contains("is in use by process "),
                        () -> other.lines().toString());
            }
            assertEquals(0, first.sessionCount());
        }
    }

    @Test
    void verifyEndsWithOneWhereSomethingIsDamaged() throws Exception {
        Path data = folder.resolve("data");
        Database.open(DatabaseOptions.defaults().withData(data)).close();
        assertEquals("0 catalog.log whole", verify(data));
        Files.writeString(data.resolve("catalog.log"), "x");
        assertEquals("1 catalog.log damaged", verify(data));
    }

    private static String verify(Path data) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream to = new PrintStream(out, true, StandardCharsets.UTF_8);
        ParseResult arguments = new CommandLine(VerifyCommand.spec()).parseArgs("--json", data.toString());
        int code = VerifyCommand.run(arguments, to, System.err);
        JsonNode first = new ObjectMapper()
                .readTree(out.toString(StandardCharsets.UTF_8))
                .path("files")
                .path(0);
        return code + " " + first.path("file").asText() + " "
                + first.path("status").asText();
    }
}
