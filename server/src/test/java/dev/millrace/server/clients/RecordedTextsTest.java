package dev.millrace.server.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.pgwire.TestServer;
import dev.millrace.testing.slt.GoldenFile;
import dev.millrace.testing.slt.SqlRunner;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * What tools send when they connect, draw their trees and complete words, as recorded from them: golden files, in which a
 * query may begin with two lines of our own,
 *
 * <pre>
 *   -- shows: relname, relkind      the columns to compare, by their names; else all
 *   -- with: 2200, 'Sites'          values for its question marks
 * </pre>
 *
 * Each is sent in one message (the simple protocol) and as a prepared statement, and both must give the same rows.
 */
@Tag("long")
class RecordedTextsTest {
    private static final String SHOWS = "-- shows: ";
    private static final String WITH = "-- with: ";

    @TestFactory
    Stream<DynamicTest> tools() {
        return GoldenFile.tests(Path.of("src/test/resources/clients/texts"), Runner::new);
    }

    private static final class Runner implements SqlRunner {
        private final TestServer server = new TestServer();
        private final Connection simple = connect("simple");
        private final Connection extended = connect("extended");

        private Connection connect(String mode) {
            try {
                return server.connect("preferQueryMode", mode);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public List<List<Optional<String>>> run(String text) {
            List<String> columns = new ArrayList<>();
            List<String> values = new ArrayList<>();
            String sql = text;
            while (sql.startsWith(SHOWS) || sql.startsWith(WITH)) {
                int end = sql.indexOf('\n');
                boolean shows = sql.startsWith(SHOWS);
                String listed = sql.substring((shows ? SHOWS : WITH).length(), end);
                (shows ? columns : values).addAll(Arrays.asList(listed.split(",\\s*")));
                sql = sql.substring(end + 1);
            }
            try {
                List<List<Optional<String>>> rows = run(simple, sql, columns, values);
                if (!rows.isEmpty()) {
                    assertEquals(sorted(rows), sorted(run(extended, sql, columns, values)), "as a prepared statement");
                }
                return rows;
            } catch (SQLException e) {
                SqlState state = Arrays.stream(SqlState.values())
                        .filter(known -> known.code().equals(e.getSQLState()))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(e));
                throw MillraceException.user(state, e.getMessage());
            }
        }

        private static List<String> sorted(List<List<Optional<String>>> rows) {
            return rows.stream().map(List::toString).sorted().toList();
        }

        private static List<List<Optional<String>>> run(
                Connection connection, String sql, List<String> columns, List<String> values) throws SQLException {
            List<List<Optional<String>>> rows = new ArrayList<>();
            if (values.isEmpty()) { // not prepared, since a question mark is an operator then
                try (Statement statement = connection.createStatement()) {
                    for (boolean more = statement.execute(sql); more; more = statement.getMoreResults()) {
                        collect(statement.getResultSet(), columns, rows);
                    }
                }
            } else {
                try (PreparedStatement statement = connection.prepareStatement(sql)) {
                    for (int i = 0; i < values.size(); i++) {
                        String value = values.get(i);
                        if (value.startsWith("'")) {
                            statement.setString(i + 1, value.substring(1, value.length() - 1));
                        } else {
                            statement.setLong(i + 1, Long.parseLong(value));
                        }
                    }
                    collect(statement.executeQuery(), columns, rows);
                }
            }
            return rows;
        }

        private static void collect(ResultSet answer, List<String> columns, List<List<Optional<String>>> rows)
                throws SQLException {
            List<Integer> places = new ArrayList<>();
            ResultSetMetaData described = answer.getMetaData();
            for (int i = 1; columns.isEmpty() && i <= described.getColumnCount(); i++) {
                places.add(i);
            }
            for (String column : columns) {
                places.add(answer.findColumn(column));
            }
            while (answer.next()) {
                List<Optional<String>> row = new ArrayList<>();
                for (int place : places) {
                    row.add(Optional.ofNullable(answer.getString(place)));
                }
                rows.add(row);
            }
        }

        @Override
        public void close() {
            try (server) {
                extended.close();
                simple.close();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
