package dev.millrace.connectors.jdbc;

import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.Set;

/** Why a database did not do what it was asked. Stateless. */
final class DatabaseFailure {
    private static final int MOST_CAUSES = 10;

    /** MySQL: lock wait timed out, deadlock, too many connections, server goes, read only (a replica that takes over). */
    private static final Set<Integer> MYSQL_CODES = Set.of(1205, 1213, 1040, 1053, 1290, 1836);

    private static final int SQLITE_BUSY = 5;
    private static final int SQLITE_LOCKED = 6;

    private DatabaseFailure() {}

    /**
     * Whether the same may succeed later, without that anybody changes it: connections that are lost or refused, deadlocks, conflicts of
     * transactions, locks, a login that is refused (its secret may be replaced), and a database that starts, ends or has no room.
     */
    static boolean isTransient(Dialect dialect, SQLException failure) {
        SQLException e = first(failure);
        String state = String.valueOf(e.getSQLState());
        String kind = state.length() < 2 ? "" : state.substring(0, 2);
        boolean byState = Set.of("08", "28", "40", "53", "57", "58").contains(kind) || state.equals("55P03");
        boolean byClass = e instanceof SQLTransientException
                || e instanceof SQLRecoverableException
                || e instanceof SQLNonTransientConnectionException;
        String said = String.valueOf(e.getMessage());
        return byState
                || byClass
                || switch (dialect) {
                    case POSTGRESQL -> false;
                    case MYSQL -> MYSQL_CODES.contains(e.getErrorCode());
                    case SQLITE ->
                        (e.getErrorCode() & 0xff) == SQLITE_BUSY || (e.getErrorCode() & 0xff) == SQLITE_LOCKED;
                    case DUCKDB -> said.startsWith("TransactionContext Error") || said.contains("Could not set lock");
                };
    }

    /** The first failure of those that one call tells of: drivers put what happened in a batch behind it. */
    private static SQLException first(SQLException failure) {
        SQLException e = failure;
        for (int depth = 0; e instanceof BatchUpdateException && depth < MOST_CAUSES; depth++) {
            if (e.getCause() instanceof SQLException cause) {
                e = cause;
            } else if (e.getNextException() != null) {
                e = e.getNextException();
            } else {
                return e;
            }
        }
        return e;
    }

    /** What the driver says, as one line. */
    static String reason(Throwable failure) {
        Throwable e = failure instanceof SQLException sql ? first(sql) : failure;
        String said = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        return said.replaceAll("\\s+", " ").strip();
    }
}
