package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.cancellation.Failures;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.copy.CopyInput;
import dev.millrace.server.copy.CopyOptions;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.Queries;
import dev.millrace.server.query.Subscriptions;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.sql.statement.Statement;
import dev.millrace.type.Schema;
import java.util.List;

/** COPY into streams and tables, and COPY of answers and subscriptions to the client, or files of the server in its place. */
public final class Copies {
    private final Instance database;
    private final Queries queries;
    private final Subscriptions subscriptions;
    private final Writes writes;
    private final SessionSettings settings;

    public Copies(
            Instance database, Queries queries, Subscriptions subscriptions, Writes writes, SessionSettings settings) {
        this.settings = settings;
        this.database = database;
        this.queries = queries;
        this.subscriptions = subscriptions;
        this.writes = writes;
    }

    public StatementResult from(Statement.CopyFrom copy) {
        CatalogObject target = writes.writable(copy.relation());
        Incoming rows = new Incoming(target, copy, CopyOptions.of(copy.options()));
        return copy.file().isPresent()
                ? StatementResult.Command.of(
                        "COPY",
                        ServerFiles.read(
                                copy.file().get(), rows, database.engine().allocator()))
                : rows;
    }

    public StatementResult to(Statement.CopyTo copy) {
        CopyOptions options = CopyOptions.of(copy.options());
        if (copy.options().containsKey(CopyOptions.FREEZE)) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "COPY freeze only available using COPY FROM");
        }
        if (copy.source() instanceof Statement.Select select) {
            StatementResult.Rows rows = queries.rows(select.query());
            return copy.file().isPresent()
                    ? written(rows, copy.file().get(), options)
                    : new StatementResult.CopyOut(rows, options);
        } else if (copy.source() instanceof Statement.Subscribe subscribe) {
            if (copy.file().isPresent()) {
                throw MillraceException.notAvailableYet("COPY of a subscription to a file of the server")
                        .withHint("CREATE SINK .. WITH (connector = 'file', path = ..) writes changes as they come");
            }
            return new StatementResult.CopyOut(subscriptions.subscribe(subscribe), options);
        }
        throw MillraceException.user(SqlState.SYNTAX_ERROR, "COPY (...) TO takes a SELECT or a SUBSCRIBE");
    }

    private StatementResult written(StatementResult.Rows rows, String file, CopyOptions options) {
        return StatementResult.Command.of(
                "COPY",
                ServerFiles.write(
                        file,
                        rows,
                        options,
                        settings.timeStyle(),
                        database.engine().allocator()));
    }

    /**
     * A copy under way. Rows of a stream take effect batch by batch, as they come: it may never end. Those of a table take
     * effect all at once at the end, so that a copy that fails leaves no trace.
     */
    private final class Incoming implements StatementResult.CopyIn {
        private final CopyOptions options;
        private final List<Integer> columns;
        private final Load load;
        private final CopyInput input;

        Incoming(CatalogObject target, Statement.CopyFrom copy, CopyOptions options) {
            Schema schema = target.schema().select(copy.columns());
            this.options = options;
            this.columns = copy.columns();
            this.load = writes.load(copy);
            this.input = new CopyInput(
                    schema, options, settings.timeStyle(), database.engine().allocator(), this::take);
        }

        private void take(Batch batch) {
            load.add(batch);
        }

        @Override
        public int columns() {
            return columns.size();
        }

        @Override
        public boolean binary() {
            return options.form() == CopyOptions.Form.BINARY;
        }

        @Override
        public void write(long address, int length) {
            Failures.run(() -> input.write(address, length));
        }

        @Override
        public long finish() {
            return Failures.translate(() -> {
                long rows = input.finish();
                load.finish();
                return rows;
            });
        }

        @Override
        public void close() {
            input.close();
            load.close();
        }
    }
}
