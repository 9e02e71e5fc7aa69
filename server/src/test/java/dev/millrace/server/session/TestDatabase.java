package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.engine.runtime.Result;
import dev.millrace.engine.statistic.OperatorStatistics;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Statement;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A database with a session, for tests; closing it fails if a byte was leaked. */
public final class TestDatabase implements AutoCloseable {
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final Database database;
    private final Session session;
    private final List<String> notices = new ArrayList<>();

    public TestDatabase() {
        this(2);
    }

    public TestDatabase(int workers) {
        this(DatabaseOptions.defaults().withWorkers(workers));
    }

    /** One that keeps its definitions. */
    public TestDatabase(Path directory) {
        this(directory, 2);
    }

    /** The same whose logs are in files of 8 KB: what reads every byte of it, often, is soon done. */
    public static TestDatabase withSmallFiles(Path directory) {
        return new TestDatabase(DatabaseOptions.defaults()
                .withWorkers(2)
                .withHost(new SmallFilesHost())
                .withData(directory));
    }

    /** The same with so many workers. */
    TestDatabase(Path directory, int workers) {
        this(DatabaseOptions.defaults().withWorkers(workers).withData(directory));
    }

    /** One whose files are anywhere. */
    TestDatabase(DataPlace place) {
        this(DatabaseOptions.defaults().withWorkers(2).withData(place));
    }

    /** The same, of which statements are executed while it is being restored. */
    public static TestDatabase early(Path directory, int workers) {
        return new TestDatabase(DatabaseOptions.defaults()
                .withWorkers(workers)
                .withData(directory)
                .withEarlySessions());
    }

    TestDatabase(DatabaseOptions options) {
        database = Database.open(options.withPrinted(new PrintStream(printed, true, StandardCharsets.UTF_8)));
        session = database.session();
        session.onNotice(notices::add);
    }

    public Session session() {
        return session;
    }

    public Database database() {
        return database;
    }

    List<String> notices() {
        return notices;
    }

    String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    /** Executes statements whose rows do not matter; gives the last command tag, if the last has one. */
    public String run(String sql, Object... parameters) {
        String tag = "";
        try (StatementResults results = session.execute(sql, List.of(parameters))) {
            while (results.hasNext()) {
                StatementResult result = results.next();
                tag = result instanceof StatementResult.Command command ? command.toString() : "";
                if (result instanceof StatementResult.Rows rows) {
                    texts(rows);
                }
            }
        }
        return tag;
    }

    /** The rows of one statement in any order, sorted, values between bars, NULL as nothing. */
    public List<String> rows(String sql, Object... parameters) {
        try (StatementResults results = session.execute(sql, List.of(parameters))) {
            return texts((StatementResult.Rows) results.next()).stream()
                    .sorted()
                    .toList();
        }
    }

    /** The same after a FLUSH. */
    public List<String> flushedRows(String sql) {
        session.flush();
        return rows(sql);
    }

    static List<String> texts(StatementResult.Rows rows) {
        List<String> texts = new ArrayList<>();
        for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
            try (Batch batch = next.get()) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    texts.add(text(batch, row));
                }
            }
        }
        return texts;
    }

    static String text(Batch batch, int row) {
        return IntStream.range(0, batch.columnCount())
                .mapToObj(column -> ValueText.format(batch, column, row).orElse(""))
                .collect(Collectors.joining("|"));
    }

    /** How many rows go into the operators of a SELECT, added up: what it costs, the same at each run. */
    public long work(String select) {
        return selectWork(select).rowsIn();
    }

    /**
     * What a query cost, added up over its operators.
     *
     * @param rows its answer, sorted; empty of a SELECT
     */
    public record Work(List<String> rows, long rowsIn, long cpuNanos) {
        private static Work of(List<String> rows, List<OperatorStatistics> operators) {
            return new Work(
                    rows,
                    operators.stream().mapToLong(OperatorStatistics::rowsIn).sum(),
                    operators.stream().mapToLong(OperatorStatistics::cpuNanos).sum());
        }
    }

    /** What a SELECT costs. */
    public Work selectWork(String select) {
        Statement statement = database.instance()
                .plans()
                .analyze(new Frontend().parse(select).get(0), database.catalog(), Parameters.none());
        PlanNode plan = database.instance()
                .plans()
                .pull(((Statement.Select) statement).query())
                .root();
        try (Result result = database.engine().run(plan)) {
            for (Optional<Batch> next = result.next(); next.isPresent(); next = result.next()) {
                next.get().close();
            }
            return Work.of(List.of(), result.statistics().operators());
        }
    }

    /** What a view costs until it has answered by the rows that there are; it is dropped then. */
    public Work standingWork(String query) {
        run("CREATE MATERIALIZED VIEW measured AS " + query);
        try {
            List<String> rows = flushedRows("SELECT * FROM measured");
            return Work.of(
                    rows,
                    database.instance()
                            .standing("measured")
                            .orElseThrow()
                            .statistics()
                            .operators());
        } finally {
            run("DROP MATERIALIZED VIEW measured");
        }
    }

    /** The error of a statement that must fail. */
    public MillraceException failure(String sql) {
        return assertThrows(MillraceException.class, () -> run(sql));
    }

    /** SQLSTATE and message of a statement that must fail, and its hint behind a bar if it has one. */
    public String error(String sql) {
        MillraceException error = failure(sql);
        return error.sqlState().code() + " " + error.getMessage()
                + error.hint().map(hint -> " | " + hint).orElse("");
    }

    @Override
    public void close() {
        session.close();
        database.close();
    }
}
