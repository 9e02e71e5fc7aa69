package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import dev.millrace.testing.database.DatabaseServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * What PostgreSQL and Millrace answer to the same script of psql's, line by line, errors and notices included, but not their hints and places.
 *
 * @param expected PostgreSQL's lines
 * @param ours the other ones
 */
record BesidePostgresql(List<String> expected, List<String> ours) {
    private static final String NAME_OF_QUESTION = "^([^|]*[|][^|]*).*";

    /** Asks both. Skips the test where psql or PostgreSQL is not installed. */
    static BesidePostgresql ask(String script, Path folder) throws Exception {
        Assumptions.assumeTrue(hasPsql(), "skipped because there is no psql on the path");
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres(), "skipped because PostgreSQL is not installed (package postgresql)");
        Path file = Files.writeString(folder.resolve("script.sql"), script);
        try (DatabaseServer postgresql = DatabaseServer.postgres();
                Database database = Millrace.open();
                PgServer server = PgServer.listen(database, PgServerOptions.local(0))) {
            return new BesidePostgresql(
                    psql(file, "postgres", postgresql.user(), postgresql.port()),
                    psql(file, "millrace", "millrace", server.port()));
        }
    }

    /** The lines that are not the same; of those whose first two fields are equal, which name the question, one. */
    String differences() {
        Map<String, String> different = new LinkedHashMap<>();
        for (int i = 0; i < Math.min(expected.size(), ours.size()); i++) {
            if (!expected.get(i).equals(ours.get(i))) {
                different.putIfAbsent(
                        ours.get(i).replaceFirst(NAME_OF_QUESTION, "$1"),
                        ours.get(i) + "   and PostgreSQL   " + expected.get(i));
            }
        }
        if (expected.size() != ours.size()) {
            different.put("", ours.size() + " lines and PostgreSQL's " + expected.size());
        }
        return String.join("\n", different.values());
    }

    private static boolean hasPsql() {
        try {
            return new ProcessBuilder("psql", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> psql(Path script, String database, String user, int port) throws Exception {
        Process process = new ProcessBuilder(
                        "psql",
                        "-X",
                        "-At",
                        "-h",
                        "localhost",
                        "-p",
                        "" + port,
                        "-U",
                        user,
                        "-f",
                        script.toString(),
                        database)
                .redirectErrorStream(true)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        return out.lines()
                .map(line -> line.replaceFirst("^psql:.*?: (ERROR|NOTICE)", "$1"))
                .map(line -> line.replaceFirst("^ERROR:  (COPY, )?row \\d+(, column \\w+)?: ", "ERROR:  "))
                .filter(line -> !line.matches("(LINE |HINT: |CONTEXT: ).*| *\\^"))
                .toList();
    }
}
