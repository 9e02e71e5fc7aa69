package dev.millrace.benchmarks.sizes;

import dev.millrace.batch.Batch;
import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.benchmarks.process.SessionStatements;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.arrow.vector.BigIntVector;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench sizes}: what a key or a row takes, by what keeps it. Measured is what the process holds, on the heap after collections and off it, with some keys and with many more: what
 * does not grow with them is in neither. Tables of hashes double, so that the next key may take as much as all so far; what is said is the mean.
 */
@Command(
        name = "sizes",
        description = "Bytes per key or row of what keeps them; a JSON line for each.",
        mixinStandardHelpOptions = true)
public final class SizesCommand implements Callable<Integer> {
    private static final int FEW = 2_000; // that are there before

    @Option(names = "--keys", defaultValue = "200000", description = "How many (default: ${DEFAULT-VALUE}).")
    private long keys;

    @Option(names = "--only", defaultValue = "", description = "Those with this in what they are called.")
    private String only;

    @Override
    public Integer call() throws IOException {
        for (Keeper keeper : Keeper.all()) {
            if (keeper.what().contains(only)) {
                System.out.println(
                        keeper.onDisk().isPresent()
                                ? onDisk(keeper, keeper.onDisk().get())
                                : inMemory(keeper));
            }
        }
        return 0;
    }

    private String inMemory(Keeper keeper) {
        try (Database database = Database.open(DatabaseOptions.defaults().withWorkers(1));
                Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            keeper.made().forEach(session::run);
            fill(keeper, session, 1, FEW);
            long state = state(opened);
            long before = ProcessClock.memoryBytes(database);
            fill(keeper, session, FEW + 1, FEW + keys);
            long bytes = ProcessClock.memoryBytes(database) - before;
            return line(keeper, keeper.count(keys), bytes, state(opened) - state);
        }
    }

    private String onDisk(Keeper keeper, String asked) throws IOException {
        Path directory = Files.createTempDirectory("millrace-sizes");
        DatabaseOptions options = DatabaseOptions.defaults().withWorkers(1).withData(directory);
        try (Database database = Database.open(options);
                Session session = database.session()) {
            SessionStatements statements = new SessionStatements(session);
            keeper.made().forEach(statements::run);
            fill(keeper, statements, 1, 5 * keys);
            statements.run("CHECKPOINT");
            return line(keeper, keeper.count(5 * keys), number(session, asked), 0);
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder()).forEach(SizesCommand::delete);
            }
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void fill(Keeper keeper, SessionStatements session, long from, long to) {
        keeper.filling(from, to).forEach(session::run);
        session.run("FLUSH");
    }

    private static long state(Session session) {
        return number(
                session,
                "SELECT coalesce(CAST(sum(state_bytes) AS bigint), 0) FROM millrace.operator_stats WHERE query = 'q'");
    }

    private static long number(Session session, String select) {
        try (StatementResults results = session.execute(select);
                StatementResult.Rows rows = (StatementResult.Rows) results.next()) {
            try (Batch first = rows.next().orElseThrow()) {
                return ((BigIntVector) first.column(0)).get(0);
            }
        }
    }

    private static String line(Keeper keeper, long count, long bytes, long stateBytes) {
        return String.format(
                Locale.ROOT,
                "{\"bench\":\"sizes\",\"what\":\"%s\",\"per\":\"%s\",\"where\":\"%s\",\"count\":%d,\"bytes_each\":%.1f,\"state_bytes_each\":%.1f}",
                keeper.what(),
                keeper.per(),
                keeper.onDisk().isPresent() ? "disk" : "memory",
                count,
                bytes / (double) count,
                stateBytes / (double) count);
    }
}
