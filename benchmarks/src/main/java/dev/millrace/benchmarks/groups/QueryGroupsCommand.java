package dev.millrace.benchmarks.groups;

import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.benchmarks.process.SessionStatements;
import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Ordinary queries on one stream, {@code WHERE device = .. AND temp > ..}, that filter or group, to none of which anybody listens: what COPY into the stream costs, and what there is to pay for
 * making them, looking at them, opening the database again and dropping them.
 */
@Command(
        name = "query-groups",
        description = "Makes many ordinary queries on one stream; a JSON line for each number of them.",
        mixinStandardHelpOptions = true)
public final class QueryGroupsCommand implements Callable<Integer> {
    private static final int LINES = 20_000; // of a COPY
    private static final int FEW = 100; // whose memory is less than what else comes and goes
    private static final double ENOUGH_SECONDS = 8;
    private static final int WARM_UP = 20; // queries
    private static final int MINUTE_CHARACTERS = 16;
    private static final LocalDateTime FIRST_MINUTE = LocalDateTime.of(2026, 1, 1, 0, 0);
    private static final DateTimeFormatter MINUTE = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm");

    /** What the queries show of the rows that they want, and behind their conditions. */
    private enum Form {
        FILTER("ts, temp FROM readings", ""),
        GROUPS("count(*) AS n, avg(temp) AS a, device FROM readings", " GROUP BY device"),
        WINDOWS(
                "count(*) AS n, avg(temp) AS a, window_end FROM TUMBLE(readings, ts, INTERVAL '10 seconds')",
                " GROUP BY window_start, window_end");

        private final String shown;
        private final String behind;

        Form(String shown, String behind) {
            this.shown = shown;
            this.behind = behind;
        }
    }

    @Option(
            names = "--queries",
            split = ",",
            defaultValue = "1,100,1000,10000",
            description = "How many (default: ${DEFAULT-VALUE}).")
    private List<Integer> queries;

    @Option(
            names = "--form",
            defaultValue = "FILTER",
            description = "What they do: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Form form;

    @Option(names = "--views", description = "They are materialized views.")
    private boolean views;

    @Option(names = "--alone", description = "Each runs by itself: SET query_groups = off.")
    private boolean alone;

    private int minutes; // that came, of one COPY each

    @Override
    public Integer call() throws IOException {
        for (int count : queries) {
            Path directory = Files.createTempDirectory("millrace-query-groups");
            try {
                System.out.println(measured(count, directory));
            } finally {
                try (Stream<Path> files = Files.walk(directory)) {
                    files.sorted(Comparator.reverseOrder()).forEach(QueryGroupsCommand::delete);
                }
            }
        }
        return 0;
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String measured(int count, Path directory) {
        DatabaseOptions options = DatabaseOptions.defaults().withData(directory);
        double created;
        double bytes;
        double bytesWithRows;
        double rowsPerCpuSecond;
        double stats;
        try (Database database = Database.open(options);
                Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            session.run("CREATE STREAM readings (device TEXT, ts TIMESTAMP, temp DOUBLE PRECISION,"
                    + " WATERMARK FOR ts AS ts - INTERVAL '1 second')");
            session.run("SET query_groups = " + (alone ? "off" : "on"));
            create(session, WARM_UP); // what is loaded with the first is nobody's
            drop(session, WARM_UP);
            long before = ProcessClock.memoryBytes(database);
            created = seconds(() -> create(session, count));
            bytes = (ProcessClock.memoryBytes(database) - before) / (double) count;
            fill(session, count, 1);
            bytesWithRows = (ProcessClock.memoryBytes(database) - before) / (double) count;
            rowsPerCpuSecond = fill(session, count, ENOUGH_SECONDS);
            stats = seconds(() -> session.run("SELECT count(*), sum(rows_out) FROM millrace.query_stats"));
        }
        long began = System.nanoTime();
        try (Database database = Database.open(options);
                Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            double openedSeconds = (System.nanoTime() - began) / 1e9;
            double dropped = seconds(() -> drop(session, count));
            return String.format(
                    Locale.ROOT,
                    "{\"bench\":\"query-groups\",\"form\":\"%s\",\"views\":%b,\"queries\":%d,\"alone\":%b,\"copy_rows_per_cpu_s\":%.0f,\"bytes_per_query\":%s,\"bytes_with_rows\":%s,"
                            + "\"create_s\":%.2f,\"query_stats_s\":%.3f,\"restart_s\":%.2f,\"drop_s\":%.2f}",
                    form.name().toLowerCase(Locale.ROOT),
                    views,
                    count,
                    alone,
                    rowsPerCpuSecond,
                    count < FEW ? "null" : Math.round(bytes),
                    count < FEW ? "null" : Math.round(bytesWithRows),
                    created,
                    stats,
                    openedSeconds,
                    dropped);
        }
    }

    private void create(SessionStatements session, int count) {
        for (int i = 0; i < count; i++) {
            session.run("CREATE " + kind() + " q" + i + " AS SELECT " + form.shown + " WHERE device = 'device-" + i
                    + "' AND temp > " + (50 + i % 50) + form.behind);
        }
    }

    private void drop(SessionStatements session, int count) {
        for (int i = 0; i < count; i++) {
            session.run("DROP " + kind() + " q" + i);
        }
    }

    private String kind() {
        return views ? "MATERIALIZED VIEW" : "CONTINUOUS QUERY";
    }

    /** Each device has its turn; half of the rows are above what is asked for; each COPY is of a minute. @return rows per second of CPU of the process */
    private double fill(SessionStatements session, int count, double enoughSeconds) {
        StringBuilder text = new StringBuilder();
        int[] times = new int[LINES];
        for (int line = 0; line < LINES; line++) {
            text.append("device-").append(line % Math.max(100, count)).append('\t');
            times[line] = text.length();
            text.append(MINUTE.format(FIRST_MINUTE))
                    .append(String.format(Locale.ROOT, ":%02d", line * 60 / LINES))
                    .append('\t')
                    .append(line % 100)
                    .append(".5\n");
        }
        byte[] lines = text.toString().getBytes(StandardCharsets.UTF_8);
        long address = Memory.allocate(lines.length);
        try {
            Memory.copyIn(lines, 0, address, lines.length);
            long cpu = ProcessClock.now().cpuNanos();
            long rows = 0;
            for (long began = System.nanoTime(); (System.nanoTime() - began) / 1e9 < enoughSeconds; rows += LINES) {
                minute(address, times, FIRST_MINUTE.plusMinutes(minutes++));
                copy(session, address, lines.length);
            }
            session.run("FLUSH");
            return rows / ((ProcessClock.now().cpuNanos() - cpu) / 1e9);
        } finally {
            Memory.free(address);
        }
    }

    private static void minute(long address, int[] times, LocalDateTime minute) {
        byte[] text = MINUTE.format(minute).getBytes(StandardCharsets.UTF_8);
        for (int time : times) {
            Memory.copyIn(text, 0, address + time, MINUTE_CHARACTERS);
        }
    }

    private static void copy(SessionStatements session, long address, int length) {
        try (StatementResults results = session.session().execute("COPY readings FROM STDIN", List.of())) {
            StatementResult.CopyIn copy = (StatementResult.CopyIn) results.next();
            copy.write(address, length);
            copy.finish();
        }
    }

    private static double seconds(Runnable action) {
        long began = System.nanoTime();
        action.run();
        return (System.nanoTime() - began) / 1e9;
    }
}
