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

/** COPY into streams and tables, and COPY of answers and subscriptions to the client. */
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
        requireClient(copy.file().isPresent());
        CatalogObject target = writes.writable(copy.relation());
        return new Incoming(target, copy, CopyOptions.of(copy.options()));
    }

    public StatementResult to(Statement.CopyTo copy) {
        requireClient(copy.file().isPresent());
        CopyOptions options = CopyOptions.of(copy.options());
        if (copy.options().containsKey(CopyOptions.FREEZE)) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "COPY freeze only available using COPY FROM");
        }
        if (copy.source() instanceof Statement.Select select) {
            return new StatementResult.CopyOut(queries.select(select), options);
        } else if (copy.source() instanceof Statement.Subscribe subscribe) {
            return new StatementResult.CopyOut(subscriptions.subscribe(subscribe), options);
        }
        throw MillraceException.user(SqlState.SYNTAX_ERROR, "COPY (...) TO takes a SELECT or a SUBSCRIBE");
    }

    private static void requireClient(boolean file) {
        if (file) {
            throw MillraceException.notAvailableYet("COPY with a file of the server")
                    .withHint(
                            "a stream or a sink WITH (connector = 'file', path = ...) reads and writes files; psql's \\copy"
                                    + " copies files of the client");
        }
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
