package dev.millrace.server.regression;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The files of PostgreSQL 15's regression suite that are about what Millrace has: types, their functions, queries and changes of rows. They
 * are executed in the order of the suite, after its common tables, by one psql each in one database; what a file expects of files that are
 * not here is missing to it.
 */
final class PostgresSuite {
    static final List<String> FILES = List.of(
            ("boolean char varchar text int2 int4 int8 float4 float8 numeric uuid strings numerology date time timestamp timestamptz"
                            + " interval horology regex expressions insert insert_conflict select select_into select_distinct"
                            + " select_distinct_on select_implicit select_having subselect union case join aggregates arrays"
                            + " update delete groupingsets json jsonb jsonpath limit truncate returning with window")
                    .split(" "));

    /** What PostgreSQL's runner sets before each file. */
    private static final List<String> SETTINGS = List.of("SET statement_timeout = '20s';", "\\echo begins");

    /** What it has sessions begin with, and RESET goes back to. */
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "PGTZ",
            "America/Los_Angeles",
            "PGDATESTYLE",
            "Postgres, MDY",
            "PGOPTIONS",
            "-c intervalstyle=postgres_verbose",
            "LC_ALL",
            "C",
            "PGCLIENTENCODING",
            "UTF8");

    private static final long SECONDS_A_FILE = 180;

    private final Path folder;
    private final int port;
    private final String user;

    /**
     * @param folder {@code src/test/regress} of PostgreSQL's sources
     * @param port where a server listens on this machine that lets {@code user} in
     */
    PostgresSuite(Path folder, int port, String user) {
        this.folder = folder;
        this.port = port;
        this.user = user;
    }

    /** Makes the tables that all files share, as far as they can be made. */
    void makeTables() throws Exception {
        printed(PsqlScript.withRows(Files.readAllLines(folder.resolve("sql/test_setup.sql")), this::rows));
    }

    RegressionFile.Outcome run(String name) throws Exception {
        List<String> lines = Files.readAllLines(folder.resolve("sql/" + name + ".sql"));
        List<String> sent = PsqlScript.withRows(lines, this::rows);
        List<String> printed = printed(sent);
        PsqlScript script = PsqlScript.of(lines);
        PsqlScript run = PsqlScript.of(sent);
        List<RegressionFile.Outcome> outcomes = new ArrayList<>();
        for (Path expected : expected(name)) {
            outcomes.add(RegressionFile.compare(script, Files.readAllLines(expected), run, printed));
        }
        return outcomes.stream()
                .max(Comparator.comparingInt(RegressionFile.Outcome::same))
                .orElseThrow(() -> new IOException("there is no expected/" + name + ".out in " + folder));
    }

    /** A file may have several answers, of platforms and encodings. */
    private List<Path> expected(String name) throws IOException {
        try (var files = Files.list(folder.resolve("expected"))) {
            return files.filter(file -> file.getFileName().toString().matches(name + "(_\\d)?\\.out"))
                    .sorted()
                    .toList();
        }
    }

    private List<String> rows(String file) throws IOException {
        return Files.readAllLines(folder.resolve(file.substring(1)));
    }

    /** What psql prints for a script, from the script's first line on. */
    List<String> printed(List<String> script) throws Exception {
        Path in = Files.createTempFile("millrace-regression", ".sql");
        Path out = Files.createTempFile("millrace-regression", ".out");
        try {
            List<String> all = new ArrayList<>(SETTINGS);
            all.addAll(script);
            Files.write(in, all);
            ProcessBuilder psql = new ProcessBuilder(
                    "psql",
                    "-X",
                    "-a",
                    "-q",
                    "-h",
                    "localhost",
                    "-p",
                    "" + port,
                    "-U",
                    user,
                    "-d",
                    "postgres",
                    "-v",
                    "HIDE_TABLEAM=on",
                    "-v",
                    "HIDE_TOAST_COMPRESSION=on");
            psql.environment().putAll(ENVIRONMENT);
            psql.environment().put("PG_ABS_SRCDIR", folder.toString());
            Process process = psql.redirectErrorStream(true)
                    .redirectInput(in.toFile())
                    .redirectOutput(out.toFile())
                    .start();
            if (!process.waitFor(SECONDS_A_FILE, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
            String text = new String(Files.readAllBytes(out), StandardCharsets.UTF_8);
            List<String> lines = List.of(text.replaceFirst("\n\\z", "").split("\n", -1));
            return lines.subList(lines.indexOf("begins") + 1, lines.size());
        } finally {
            Files.delete(in);
            Files.delete(out);
        }
    }
}
