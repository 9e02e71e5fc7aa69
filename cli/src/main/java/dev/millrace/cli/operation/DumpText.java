package dev.millrace.cli.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.server.operation.DirectoryDump;
import dev.millrace.server.script.DefinitionScript.Step;
import dev.millrace.server.settings.ProductVersion;
import dev.millrace.sql.text.Identifiers;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.postgresql.PGConnection;

/** Writes a dump: statements in their order, and rows behind the tables that have them, before anything reads these. For one thread. */
final class DumpText {
    private static final Set<String> BEFORE_ROWS = Set.of("role", "setting", "function", "stream", "table");
    private static final int ROWS_OF_INSERT = 500;
    private static final String COUNTER = "counter";
    private static final String NOT_RESTORED = "not restored";

    private final OutputStream out;
    private final Optional<Connection> tables;

    /** One without rows. */
    DumpText(OutputStream out) {
        this.out = out;
        this.tables = Optional.empty();
    }

    /** @param tables where the rows are; the caller's */
    DumpText(OutputStream out, Connection tables) {
        this.out = out;
        this.tables = Optional.of(tables);
    }

    /** What a server says that it has; 42501 unless to a superuser. */
    static List<Step> definitions(Connection server) throws SQLException {
        List<Step> steps = new ArrayList<>();
        try (Statement statement = server.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT kind, name, statement, note FROM millrace.definitions ORDER BY position")) {
            while (rows.next()) {
                steps.add(new Step(rows.getString(1), rows.getString(2), rows.getString(3), rows.getString(4)));
            }
        }
        return steps;
    }

    void write(List<Step> steps, boolean withRows) throws SQLException, IOException {
        print("-- Definitions" + (withRows ? " and rows of tables" : "") + ", by Millrace " + ProductVersion.TEXT
                + "\n");
        for (Step step : steps) {
            if (BEFORE_ROWS.contains(step.kind())) {
                statement(step);
            }
        }
        if (withRows) {
            Connection from = tables.orElseThrow();
            for (Step counter : definitions(from)) {
                if (counter.kind().equals(COUNTER)) {
                    statement(counter);
                }
            }
            for (Step step : steps) {
                if (step.kind().equals("table") && !DirectoryDump.isOfFeeds(step.name(), step.kind(), step.statement())
                        || step.kind().equals("stream") && keepsRows(step, from)) {
                    rows(step.name(), from);
                }
            }
        }
        for (Step step : steps) {
            if (step.kind().equals(NOT_RESTORED)) {
                print("\n-- Not restored, as " + comment(step.note()) + ":\n-- " + comment(step.statement()) + "\n");
            } else if (!BEFORE_ROWS.contains(step.kind()) && !step.kind().equals(COUNTER)) {
                statement(step);
            }
        }
    }

    /** Whether a stream can be read. */
    private static boolean keepsRows(Step stream, Connection from) throws SQLException {
        if (!stream.statement().toLowerCase(Locale.ROOT).contains("retention")) {
            return false;
        }
        try (Statement statement = from.createStatement();
                ResultSet rows =
                        statement.executeQuery("SELECT 1 FROM " + Identifiers.quote(stream.name()) + " LIMIT 1")) {
            return rows.next();
        } catch (SQLException e) {
            if ("42809".equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }

    private void statement(Step step) throws IOException {
        String text = step.statement().strip();
        String lastLine = text.substring(text.lastIndexOf('\n') + 1);
        print((step.note().isEmpty() ? "" : "-- " + comment(step.note()) + "\n") + text
                + (lastLine.contains("--") ? "\n" : "") + ";\n");
    }

    private static String comment(String text) {
        return text.replace("\n", "\n-- ");
    }

    private void rows(String table, Connection from) throws SQLException, IOException {
        boolean nested = false;
        List<String> names = new ArrayList<>();
        for (Column column : columns(table, from)) {
            if (column.type().endsWith("record")) {
                throw MillraceException.notAvailableYet("dump of table \"" + table + "\" with rows, whose column \""
                        + column.name() + "\" has rows in it");
            }
            nested |= column.type().startsWith("_");
            names.add(Identifiers.quote(column.name()));
        }
        String target = Identifiers.quote(table) + " (" + String.join(", ", names) + ")";
        if (nested) {
            inserts(table, names, target, from);
            return;
        }
        print("\nCOPY " + target + " FROM stdin;\n");
        from.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY " + target + " TO STDOUT", out);
        print("\\.\n");
    }

    /** Arrays are written by INSERT: COPY reads none yet. */
    private void inserts(String table, List<String> names, String target, Connection from)
            throws SQLException, IOException {
        from.setAutoCommit(false); // by which rows are fetched some at a time
        try (Statement statement = from.createStatement()) {
            statement.setFetchSize(ROWS_OF_INSERT);
            try (ResultSet rows = statement.executeQuery(
                    "SELECT " + String.join(", ", names) + " FROM " + Identifiers.quote(table))) {
                boolean more = rows.next();
                while (more) {
                    print("\nINSERT INTO " + target + " OVERRIDING SYSTEM VALUE VALUES\n");
                    for (int row = 1; more && row <= ROWS_OF_INSERT; row++) {
                        String values = values(rows, names.size());
                        more = rows.next();
                        print(values + (more && row < ROWS_OF_INSERT ? ",\n" : ";\n"));
                    }
                }
            }
        } finally {
            from.rollback();
            from.setAutoCommit(true);
        }
    }

    private static String values(ResultSet row, int count) throws SQLException {
        List<String> values = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            String value = row.getString(i);
            values.add(value == null ? "NULL" : Identifiers.quoteText(value));
        }
        return "  (" + String.join(", ", values) + ")";
    }

    /** @param type as PostgreSQL calls it; of an array with _ before */
    private record Column(String name, String type) {}

    /** Those that have values of their own. */
    private static List<Column> columns(String table, Connection from) throws SQLException {
        List<Column> columns = new ArrayList<>();
        try (PreparedStatement statement = from.prepareStatement(
                "SELECT column_name, udt_name FROM information_schema.columns WHERE table_schema = 'public'"
                        + " AND table_name = ? AND is_generated = 'NEVER' ORDER BY ordinal_position")) {
            statement.setString(1, table);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    columns.add(new Column(rows.getString(1), rows.getString(2)));
                }
            }
        }
        return columns;
    }

    private void print(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
    }
}
