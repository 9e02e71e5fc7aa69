package dev.millrace.capture;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.replication.LogSequenceNumber;

/**
 * PostgreSQL, by logical replication (pgoutput): a replication slot and a publication of the table, which go with it. Immutable.
 *
 * @param slot the name of both
 */
record PostgresUpstream(String slot) implements Upstream {
    private static final long MOST_IN_USE_NANOS = 10_000_000_000L; // that a slot stays in use by who has left
    private static final long TRY_AGAIN_NANOS = 100_000_000L;
    private static final String OFFSET_LSN = "lsn";

    private static String url(SourceTable table) {
        return "jdbc:postgresql://" + table.resolvedHost() + ":" + table.port() + "/" + table.database();
    }

    @Override
    public Map<String, String> properties(SourceTable table) {
        Map<String, String> all = new HashMap<>();
        all.put("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
        all.put("database.dbname", table.database());
        all.put("plugin.name", "pgoutput");
        all.put("slot.name", slot);
        all.put("slot.max.retries", "0"); // who runs the feed tries again
        all.put("publication.name", slot);
        all.put("publication.autocreate.mode", "filtered");
        all.put("table.include.list", literally(table.area()) + "\\." + literally(table.name()));
        return all;
    }

    /** Debezium takes regular expressions. */
    static String literally(String name) {
        return name.replaceAll("([^A-Za-z0-9_])", "\\\\$1");
    }

    @Override
    public void check(SourceTable table) {
        try (Connection connection = table.connect(url(table))) {
            if (!"logical".equals(one(connection, "SHOW wal_level").orElse(""))) {
                throw MillraceException.external(
                                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                                "the log of " + table + " cannot be followed: wal_level is not logical")
                        .withHint("ALTER SYSTEM SET wal_level = 'logical', and restart that PostgreSQL");
            }
            table.checkColumns(connection, false);
            Optional<String> identity = one(
                    connection,
                    "SELECT relreplident::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                            + " WHERE n.nspname = ? AND c.relname = ?",
                    table.area(),
                    table.name());
            if (identity.filter("n"::equals).isPresent()) {
                throw MillraceException.external(
                                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                                "REPLICA IDENTITY of " + table + " is NOTHING: its log does not tell which rows change")
                        .withHint("ALTER TABLE " + table.area() + "." + table.name() + " REPLICA IDENTITY DEFAULT");
            }
        } catch (SQLException e) {
            throw table.failure(e);
        }
    }

    @Override
    public void checkGoesOn(SourceTable table, Map<String, Object> offset) {
        try (Connection connection = table.connect(url(table))) {
            Optional<String> confirmed = one(
                    connection, "SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = ?", slot);
            if (confirmed.isEmpty()) {
                throw lost(table, "the replication slot \"" + slot + "\" is gone");
            }
            long asked = LogSequenceNumber.valueOf(confirmed.get()).asLong();
            long had = Math.max(
                    number(offset, OFFSET_LSN), Math.max(number(offset, "lsn_proc"), number(offset, "lsn_commit")));
            if (Long.compareUnsigned(asked, had) > 0) {
                throw lost(
                        table,
                        "the replication slot \"" + slot + "\" was read up to " + confirmed.get()
                                + ", and the table is at "
                                + LogSequenceNumber.valueOf(had).asString());
            }
        } catch (SQLException e) {
            throw table.failure(e);
        }
    }

    private static MillraceException lost(SourceTable table, String why) {
        return MillraceException.external(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "what changed in " + table + " since cannot be had: " + why)
                .withHint("DROP TABLE and create it again: it is read anew");
    }

    private static long number(Map<String, Object> offset, String name) {
        return offset.get(name) instanceof Number number ? number.longValue() : 0;
    }

    private static Optional<String> one(Connection connection, String sql, String... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setString(i + 1, parameters[i]);
            }
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? Optional.ofNullable(rows.getString(1)) : Optional.empty();
            }
        }
    }

    @Override
    public void requireThere(SourceTable table) {
        // its connection is watched by Debezium, which fails with it
    }

    @Override
    public void forget(SourceTable table) {
        try (Connection connection = table.connect(url(table))) {
            dropSlot(connection);
            try (PreparedStatement drop = connection.prepareStatement("DROP PUBLICATION IF EXISTS \"" + slot + "\"")) {
                drop.execute();
            }
        } catch (SQLException e) {
            throw table.failure(e);
        }
    }

    /** The server may still be ending the connection that read it: then it is tried again for some seconds. */
    private void dropSlot(Connection connection) throws SQLException {
        long since = System.nanoTime();
        while (true) {
            try {
                one(
                        connection,
                        "SELECT pg_drop_replication_slot(slot_name)::text FROM pg_replication_slots WHERE slot_name = ?",
                        slot);
                return;
            } catch (SQLException e) {
                boolean isInUse = SqlState.OBJECT_IN_USE.code().equals(e.getSQLState());
                if (!isInUse
                        || System.nanoTime() - since > MOST_IN_USE_NANOS
                        || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                LockSupport.parkNanos(TRY_AGAIN_NANOS);
            }
        }
    }

    @Override
    public String text(Map<String, Object> offset) {
        return offset.get(OFFSET_LSN) instanceof Number lsn
                ? LogSequenceNumber.valueOf(lsn.longValue()).asString()
                : "";
    }
}
