package dev.millrace.connectors.jdbc;

import dev.millrace.connectors.split.Backoff;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Has a database take changes, each time all or none of them. What may pass is waited for, for as long as it takes: a database that is away,
 * a deadlock, a lock. Used by one thread, which may wait and gives up when it is interrupted; {@link #lastError} and {@link #waitsFor} by any.
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
    private final Backoff backoff;
    private @Nullable Connection connection;
    private boolean hasProgressTable;
    private volatile Optional<String> lastError = Optional.empty(); // written by the sink's thread, read by any
    private volatile Optional<String> waitsFor = Optional.empty(); // likewise
    private volatile long retries; // likewise; since it worked

    JdbcWriter(DatabaseAddress address, TargetTable table, boolean upsert, int batchRows) {
        this.address = address;
        this.table = table;
        this.upsert = upsert;
        this.batchRows = batchRows;
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

    long retries() {
        return retries;
    }

    /** Something that a database does, as a part of one transaction. */
    private interface Step<T> {
        T run(Connection open) throws SQLException;
    }

    /**
     * Writes changes in one transaction. Each key is changed once at most.
     *
     * @throws MillraceException what the database refuses, with the row; 57014 when interrupted
     */
    void write(List<RowChange> changes) {
        if (!changes.isEmpty()) {
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
    void write(List<RowChange> changes, String sink, long checkpoint) {
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
                List.of());
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

    /** Deletes first: a value that is unique may have gone from one key to another. */
    private void apply(Connection open, List<RowChange> changes) throws SQLException {
        apply(open, changes, true);
        apply(open, changes, false);
    }

    private void apply(Connection open, List<RowChange> changes, boolean deletes) throws SQLException {
        if (changes.stream().noneMatch(change -> change.isDelete() == deletes)) {
            return; // where rows are only added there is no key to delete by
        }
        try (PreparedStatement statement = prepare(open, deletes)) {
            int waiting = 0;
            for (RowChange change : changes) {
                if (change.isDelete() == deletes) {
                    bind(statement, change);
                    statement.addBatch();
                    if (++waiting == batchRows) {
                        statement.executeBatch();
                        waiting = 0;
                    }
                }
            }
            if (waiting > 0) {
                statement.executeBatch();
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

    private void bind(PreparedStatement statement, RowChange change) throws SQLException {
        RowBytes.read(change.bytes(), (place, value) -> {
            int column = change.isDelete() ? table.key().get(place) : place;
            ValueBinding.bind(
                    statement, place + 1, address.dialect(), table.schema().type(column), value);
        });
    }

    // ---- until it works --------------------------------------------------------------------------------------------

    private <T> T untilTaken(Step<T> step, List<RowChange> changes) {
        while (true) {
            try {
                T result = step.run(open());
                backoff.succeeded();
                retries = 0;
                waitsFor = Optional.empty();
                return result;
            } catch (SQLException e) {
                String reason = address.reason(e);
                lastError = Optional.of(reason);
                if (Thread.currentThread().isInterrupted()) {
                    disconnect();
                    throw interrupted();
                }
                if (!DatabaseFailure.isTransient(address.dialect(), e)) {
                    MillraceException refused = refused(e, changes);
                    disconnect();
                    throw refused;
                }
                disconnect();
                retries++;
                waitsFor = Optional.of(address + ": " + reason);
                pause(backoff.nextMillis());
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
    private MillraceException refused(SQLException e, List<RowChange> changes) {
        String where = "table \"" + table.name() + "\" of " + address;
        if (changes.size() <= MOST_TO_FIND_A_ROW) {
            try {
                Connection open = open();
                open.rollback();
                for (boolean deletes : new boolean[] {true, false}) {
                    Optional<MillraceException> found = findRefused(open, changes, deletes, where);
                    if (found.isPresent()) {
                        return found.get();
                    }
                }
            } catch (SQLException lost) {
                // then the reason stands alone
            }
        }
        return MillraceException.external(SqlState.DATA_EXCEPTION, where + ": " + address.reason(e));
    }

    private Optional<MillraceException> findRefused(
            Connection open, List<RowChange> changes, boolean deletes, String where) throws SQLException {
        if (changes.stream().noneMatch(change -> change.isDelete() == deletes)) {
            return Optional.empty();
        }
        try (PreparedStatement statement = prepare(open, deletes)) {
            for (RowChange change : changes) {
                if (change.isDelete() == deletes) {
                    try {
                        bind(statement, change);
                        statement.executeUpdate();
                    } catch (SQLException e) {
                        List<Integer> columns = deletes ? table.key() : table.allColumns();
                        return Optional.of(MillraceException.external(
                                SqlState.DATA_EXCEPTION,
                                where + " does not take the row "
                                        + RowBytes.text(change.bytes(), table.schema(), columns) + ": "
                                        + address.reason(e)));
                    }
                }
            }
            return Optional.empty();
        }
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
