package dev.millrace.jdbc;

import java.lang.reflect.Method;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Answers the calls to a plain INSERT: a batch of it travels as one COPY. Parameters are kept until it is known what for; a
 * value that COPY might take otherwise than INSERT goes to pgjdbc's own batch, and all rows behind it, so that their order stays.
 */
final class InsertCalls extends StatementCalls {
    private final PreparedStatement postgresql;
    private final Connection connection;
    private final InsertAsCopy copy;
    private final Method[] setters;
    private final Object[][] settings;
    private final CopyRows rows = new CopyRows();
    private int rowsBehind;

    private InsertCalls(PreparedStatement postgresql, Connection connection, Endpoint endpoint, InsertAsCopy copy) {
        super(postgresql, connection, endpoint);
        this.postgresql = postgresql;
        this.connection = connection;
        this.copy = copy;
        this.setters = new Method[copy.parameters()];
        this.settings = new Object[copy.parameters()][];
    }

    static PreparedStatement wrap(
            PreparedStatement postgresql, Connection connection, Endpoint endpoint, InsertAsCopy copy) {
        return (PreparedStatement) wrap(new InsertCalls(postgresql, connection, endpoint, copy));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (arguments != null && arguments.length >= 2 && method.getName().startsWith("set")) {
            int index = (Integer) arguments[0] - 1;
            if (index >= 0 && index < setters.length) {
                setters[index] = method;
                settings[index] = arguments;
                return null;
            }
        }
        switch (method.getName()) {
            case "addBatch":
                if (arguments != null || rowsBehind > 0 || !addRow()) {
                    giveParameters();
                    ProxyCalls.pass(postgresql, method, arguments);
                    rowsBehind++;
                }
                return null;
            case "executeBatch":
                return Arrays.stream(executeBatch())
                        .mapToInt(count -> (int) count)
                        .toArray();
            case "executeLargeBatch":
                return executeBatch();
            case "clearBatch":
                rows.clear();
                rowsBehind = 0;
                return ProxyCalls.pass(postgresql, method, arguments);
            case "clearParameters":
                Arrays.fill(setters, null);
                return ProxyCalls.pass(postgresql, method, arguments);
            case "execute",
                    "executeQuery",
                    "executeUpdate",
                    "executeLargeUpdate",
                    "getMetaData",
                    "getParameterMetaData",
                    "toString",
                    "unwrap":
                giveParameters();
                return super.invoke(proxy, method, arguments);
            default:
                return super.invoke(proxy, method, arguments);
        }
    }

    /** Gives pgjdbc the parameters that were set since it got the last. */
    private void giveParameters() throws Throwable {
        for (int i = 0; i < setters.length; i++) {
            if (setters[i] != null) {
                ProxyCalls.pass(postgresql, setters[i], settings[i]);
            }
        }
    }

    /** Adds the row to the COPY; false if it is not for it. */
    private boolean addRow() {
        for (int i = 0; i < setters.length; i++) {
            if (setters[i] == null || !rows.add(valueOf(setters[i], settings[i]))) {
                rows.undoRow();
                return false;
            }
        }
        rows.endRow();
        return true;
    }

    /** What a setter was called with, or an object that COPY does not know. */
    private static @Nullable Object valueOf(Method setter, Object[] arguments) {
        return switch (setter.getName()) {
            case "setNull" -> null;
            case "setString",
                    "setInt",
                    "setLong",
                    "setShort",
                    "setByte",
                    "setDouble",
                    "setFloat",
                    "setBoolean",
                    "setBigDecimal",
                    "setBytes",
                    "setDate",
                    "setTimestamp",
                    "setObject" -> arguments.length == 2 || arguments[1] == null ? arguments[1] : arguments;
            default -> arguments;
        };
    }

    private long[] executeBatch() throws SQLException {
        int copied = rows.rows();
        long[] counts = new long[copied + rowsBehind];
        Arrays.fill(counts, 1);
        if (copied > 0) {
            copy(counts.length);
        }
        if (rowsBehind > 0) {
            rowsBehind = 0;
            long[] behind =
                    Arrays.stream(postgresql.executeBatch()).asLongStream().toArray();
            System.arraycopy(behind, 0, counts, copied, behind.length);
        }
        return counts;
    }

    private void copy(int batchSize) throws SQLException {
        try {
            CopyIn sent = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(copy.sql());
            try {
                for (byte[] piece : rows.pieces()) {
                    sent.writeToCopy(piece, 0, piece.length);
                }
                sent.endCopy();
            } finally {
                if (sent.isActive()) {
                    sent.cancelCopy();
                }
            }
        } catch (SQLException e) {
            int[] counts = new int[batchSize];
            Arrays.fill(counts, Statement.EXECUTE_FAILED);
            rowsBehind = 0;
            postgresql.clearBatch();
            throw new BatchUpdateException(e.getMessage(), e.getSQLState(), counts, e);
        } finally {
            rows.clear();
        }
    }
}
