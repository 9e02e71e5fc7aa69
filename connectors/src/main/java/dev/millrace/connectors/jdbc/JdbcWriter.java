package dev.millrace.connectors.jdbc;

import dev.millrace.connectors.split.Backoff;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Has a database take changes, each time all or none of them. Used by one thread, which may wait and gives up when it is interrupted; {@link
 * #lastError} and {@link #waitsFor} by any.
 */
final class JdbcWriter implements AutoCloseable {
    private static final String PROGRESS = "millrace_progress";
    private static final String SINK = "sink";
    private static final String CHECKPOINT = "checkpoint";
    private static final long FIRST_WAIT_MILLIS = 50;
    private static final long MOST_WAIT_MILLIS = 10_000;
    private static final int MOST_TO_FIND_A_ROW = 100_000;

    private final DatabaseAddress address;
    private final TargetTable table;
    private final boolean upsert;
    private final int batchRows;
    private final boolean isPatient;
    private final Backoff backoff;
    private @Nullable Connection connection;
    private boolean hasProgressTable;
    private volatile Optional<String> lastError = Optional.empty(); // written by the sink's thread, read by any
    private volatile Optional<String> waitsFor = Optional.empty(); // likewise

    /** What a driver throws while changes are gone through. */
    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient SQLException why;
        private final transient WrittenChange change;

        Refused(SQLException why, WrittenChange change) {
            super(why);
            this.why = why;
            this.change = change;
        }
    }

    /**
     * @param isPatient whether it tries again here for as long as it takes, whatever the database says: one that is away, a deadlock, a lock, a row that
     *     it refuses until somebody changes its table; else that is thrown, as the fault of what is outside
     */
    JdbcWriter(DatabaseAddress address, TargetTable table, boolean upsert, int batchRows, boolean isPatient) {
        this.address = address;
        this.table = table;
        this.upsert = upsert;
        this.batchRows = batchRows;
        this.isPatient = isPatient;
        this.backoff = new Backoff(FIRST_WAIT_MILLIS, MOST_WAIT_MILLIS, System.identityHashCode(this));
    }

    /** Of all failures since it was made. */
    Optional<String> lastError() {
        return lastError;
    }

    /** What it cannot go on without. */
    Optional<String> waitsFor() {
        return waitsFor;
    }

    /** See {@link TargetTable#check}. */
    void check() {
        try (Connection open = address.connect()) {
            table.check(open, address);
        } catch (SQLException e) {
            throw address.failure(e);
        }
    }

    /** Something that a database does, as a part of one transaction. */
    private interface Step<T> {
        T run(Connection open) throws SQLException;
    }

    /**
     * Writes changes in one transaction.
     *
     * @throws MillraceException 57014 when interrupted
     */
    void write(WrittenChange.Sequence changes) {
        if (changes.count() > 0) {
            untilTaken(
                    open -> {
                        apply(open, changes);
                        open.commit();
                        return true;
                    },
                    changes);
        }
    }

    /**
     * The same, with a number that is kept in the database beside them: of a sink that has it already nothing is written again.
     *
     * @param sink a name that no other sink has there
     */
    void write(WrittenChange.Sequence changes, String sink, long checkpoint) {
        untilTaken(
                open -> {
                    if (readCheckpoint(open, sink).orElse(-1) < checkpoint) {
                        apply(open, changes);
                        noteCheckpoint(open, sink, checkpoint);
                    }
                    open.commit();
                    return true;
                },
                changes);
    }

    /** The number that was written last for a sink; empty if there was none. */
    OptionalLong checkpoint(String sink) {
        return untilTaken(
                open -> {
                    OptionalLong found = readCheckpoint(open, sink);
                    open.commit();
                    return found;
                },
                WrittenChange.Sequence.of(List.of()));
    }

    private OptionalLong readCheckpoint(Connection open, String sink) throws SQLException {
        if (!hasProgressTable) {
            try (PreparedStatement create =
                    open.prepareStatement(address.dialect().createNumbers(PROGRESS, SINK, CHECKPOINT))) {
                create.execute();
            }
            open.commit();
            hasProgressTable = true;
        }
        String select = address.dialect().select(PROGRESS, List.of(CHECKPOINT)) + " WHERE "
                + address.dialect().quoted(SINK) + " = ?";
        try (PreparedStatement statement = open.prepareStatement(select)) {
            statement.setString(1, sink);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    private void noteCheckpoint(Connection open, String sink, long checkpoint) throws SQLException {
        String upsertProgress = address.dialect().upsert(PROGRESS, List.of(SINK, CHECKPOINT), List.of(SINK));
        try (PreparedStatement statement = open.prepareStatement(upsertProgress)) {
            statement.setString(1, sink);
            statement.setLong(2, checkpoint);
            statement.executeUpdate();
        }
    }

    // ---- changes ---------------------------------------------------------------------------------------------------

    private void apply(Connection open, WrittenChange.Sequence changes) throws SQLException {
        try (Batches batches = new Batches(open)) {
            changes.forEach(change -> {
                try {
                    batches.add(change);
                } catch (SQLException e) {
                    throw new Refused(e, change);
                }
            });
            batches.flush();
        } catch (Refused e) {
            throw e.why;
        }
    }

    /** Changes that are sent together as long as they are of one kind, and no key is in them twice. */
    private final class Batches implements AutoCloseable {
        private final Connection open;
        private final Map<WrittenChange.Kind, PreparedStatement> statements = new EnumMap<>(WrittenChange.Kind.class);
        private WrittenChange.Kind kind = WrittenChange.Kind.END_OF_EPOCH; // of those that wait
        private int waiting;

        Batches(Connection open) {
            this.open = open;
        }

        void add(WrittenChange change) throws SQLException {
            if (change.kind() != kind || waiting == batchRows) {
                flush();
                kind = change.kind();
            }
            if (kind != WrittenChange.Kind.END_OF_EPOCH) {
                PreparedStatement statement = statement();
                bind(statement, change);
                statement.addBatch();
                waiting++;
            }
        }

        private PreparedStatement statement() throws SQLException {
            PreparedStatement known = statements.get(kind);
            if (known == null) {
                known = prepare(open, kind == WrittenChange.Kind.DELETE);
                statements.put(kind, known);
            }
            return known;
        }

        void flush() throws SQLException {
            if (waiting > 0) {
                statement().executeBatch();
                waiting = 0;
            }
        }

        @Override
        public void close() throws SQLException {
            for (PreparedStatement statement : statements.values()) {
                statement.close();
            }
        }
    }

    private PreparedStatement prepare(Connection open, boolean delete) throws SQLException {
        Dialect dialect = address.dialect();
        List<String> columns = table.schema().names();
        if (delete) {
            return open.prepareStatement(dialect.delete(table.name(), table.keyNames()));
        }
        return open.prepareStatement(
                upsert
                        ? dialect.upsert(table.name(), columns, table.keyNames())
                        : dialect.insert(table.name(), columns));
    }

    private void bind(PreparedStatement statement, WrittenChange change) throws SQLException {
        RowBytes.read(change.bytes(), (place, value) -> {
            int column =
                    change.kind() == WrittenChange.Kind.DELETE ? table.key().get(place) : place;
            ValueBinding.bind(
                    statement, place + 1, address.dialect(), table.schema().type(column), value);
        });
    }

    // ---- until it works --------------------------------------------------------------------------------------------

    private <T> T untilTaken(Step<T> step, WrittenChange.Sequence changes) {
        while (true) {
            try {
                T result = step.run(open());
                backoff.succeeded();
                waitsFor = Optional.empty();
                return result;
            } catch (SQLException e) {
                boolean passes = DatabaseFailure.isTransient(address.dialect(), e);
                String why = passes ? address + ": " + address.reason(e) : refused(e, changes);
                lastError = Optional.of(why);
                disconnect();
                if (Thread.currentThread().isInterrupted()) {
                    throw interrupted();
                }
                if (!isPatient) {
                    throw MillraceException.external(
                            passes ? SqlState.CONNECTION_FAILURE : SqlState.DATA_EXCEPTION, why);
                }
                waitsFor = Optional.of(why);
                pause(backoff.nextMillis());
            } catch (RuntimeException e) { // of who gives the changes
                disconnect();
                throw e;
            }
        }
    }

    private Connection open() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = address.connect();
            connection = open;
        }
        return open;
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted();
        }
    }

    private static MillraceException interrupted() {
        return MillraceException.user(SqlState.QUERY_CANCELED, "the sink is closed while it writes");
    }

    /** What the database does not take, with the first row that it does not take, as far as that can be found. */
    private String refused(SQLException e, WrittenChange.Sequence changes) {
        String where = "table \"" + table.name() + "\" of " + address;
        if (changes.count() > 0 && changes.count() <= MOST_TO_FIND_A_ROW) {
            try {
                Connection open = open();
                open.rollback();
                findRefused(open, changes);
            } catch (Refused found) {
                boolean isDelete = found.change.kind() == WrittenChange.Kind.DELETE;
                List<Integer> columns = isDelete ? table.key() : table.allColumns();
                return where + " does not take the row "
                        + RowBytes.text(found.change.bytes(), table.schema(), columns) + ": "
                        + address.reason(found.why);
            } catch (SQLException lost) {
                // then the reason stands alone
            }
        }
        return where + ": " + address.reason(e);
    }

    /** Does the changes one by one. */
    private void findRefused(Connection open, WrittenChange.Sequence changes) {
        changes.forEach(change -> {
            if (change.kind() != WrittenChange.Kind.END_OF_EPOCH) {
                try (PreparedStatement statement = prepare(open, change.kind() == WrittenChange.Kind.DELETE)) {
                    bind(statement, change);
                    statement.executeUpdate();
                } catch (SQLException e) {
                    throw new Refused(e, change);
                }
            }
        });
    }

    /** Whatever was open in the database is rolled back. */
    private void disconnect() {
        Connection open = connection;
        connection = null;
        if (open != null) {
            try {
                open.close();
            } catch (SQLException e) {
                // it is given up all the same
            }
        }
    }

    @Override
    public void close() {
        disconnect();
    }
}
