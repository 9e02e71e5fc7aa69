package dev.millrace.connectors.jdbc;

import dev.millrace.connector.FedTable;
import dev.millrace.connector.RowChange;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connector.TableFeed;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** Reads a whole table of a database every so often; only rows that are others than before are changes. Immutable. */
final class JdbcFeed implements TableFeed {
    private static final int FETCH_ROWS = 1000;

    private final DatabaseAddress address;
    private final String from;
    private final Schema schema;
    private final long refreshMicros;
    private final long mostRows;

    JdbcFeed(DatabaseAddress address, String from, Schema schema, long refreshMicros, long mostRows) {
        this.address = address;
        this.from = from;
        this.schema = schema;
        this.refreshMicros = refreshMicros;
        this.mostRows = mostRows;
    }

    @Override
    public boolean hasPosition() {
        return false;
    }

    private String select() {
        return address.dialect().select(from, schema.names());
    }

    @Override
    public void check() {
        try (Connection connection = address.connect();
                PreparedStatement statement = connection.prepareStatement(select() + " WHERE 1 = 0")) {
            statement.executeQuery().close();
        } catch (SQLException e) {
            throw address.failure(e);
        }
    }

    @Override
    public void run(FedTable table) throws InterruptedException {
        while (true) {
            long before = table.clock().nanoTime();
            long rows = read(table);
            long took = TimeUnit.NANOSECONDS.toMicros(table.clock().nanoTime() - before);
            table.tell(new SplitStatus(
                    from + " of " + address,
                    "read in " + TimeUnit.MICROSECONDS.toMillis(took) + " ms",
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    rows,
                    took == 0 ? 0 : rows * 1e6 / took,
                    0,
                    Optional.empty(),
                    Optional.empty()));
            TimeUnit.MICROSECONDS.sleep(refreshMicros);
        }
    }

    private long read(FedTable table) {
        try (Connection connection = address.connect()) {
            connection.setReadOnly(address.dialect().isServer());
            try (PreparedStatement statement = connection.prepareStatement(select())) {
                statement.setFetchSize(FETCH_ROWS);
                try (ResultSet results = statement.executeQuery()) {
                    Rows rows = new Rows(results);
                    table.replace(rows, Optional.empty());
                    return rows.count;
                }
            }
        } catch (SQLException e) {
            throw address.failure(e);
        }
    }

    /** The rows of a result, as texts. */
    private final class Rows implements Iterator<RowChange> {
        private final ResultSet results;
        private boolean isAtRow; // whether the next was asked for, and is there
        private boolean isAtEnd;
        private long count;

        Rows(ResultSet results) {
            this.results = results;
        }

        @Override
        public boolean hasNext() {
            if (!isAtRow && !isAtEnd) {
                try {
                    isAtRow = results.next();
                } catch (SQLException e) {
                    throw address.failure(e);
                }
                isAtEnd = !isAtRow;
            }
            return isAtRow;
        }

        @Override
        public RowChange next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            isAtRow = false;
            if (++count > mostRows) {
                throw MillraceException.resources(
                                SqlState.CONFIGURATION_LIMIT_EXCEEDED,
                                from + " of " + address + " has more than " + mostRows + " rows (max.rows)")
                        .withHint("a view there with fewer rows can be read, or max.rows be greater");
            }
            try {
                List<Optional<String>> values = new ArrayList<>(schema.size());
                for (int column = 0; column < schema.size(); column++) {
                    values.add(ValueReading.text(results, column + 1, schema.type(column)));
                }
                return RowChange.put(values);
            } catch (SQLException e) {
                throw address.failure(e);
            }
        }
    }
}
