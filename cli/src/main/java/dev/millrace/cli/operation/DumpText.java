package dev.millrace.cli.operation;

import dev.millrace.server.operation.DirectoryDump;
import dev.millrace.server.script.DefinitionScript;
import dev.millrace.server.script.DefinitionScript.Step;
import dev.millrace.server.settings.ProductVersion;
import dev.millrace.sql.catalog.RelationNames;
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
import java.util.stream.Collectors;
import org.postgresql.PGConnection;

/** Writes a dump: statements in their order, and rows behind the tables that have them, before anything reads these. For one thread. */
final class DumpText {
    private static final Set<String> BEFORE_ROWS = Set.of("role", "setting", "schema", "function", "stream", "table");
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
            if (isBeforeRows(step)) {
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
                        || step.kind().equals("stream") && isBeforeRows(step) && keepsRows(step, from)) {
                    rows(step.name(), from);
                }
            }
        }
        for (Step step : steps) {
            if (step.kind().equals(NOT_RESTORED)) {
                print("\n-- Not restored, as " + comment(step.note()) + ":\n-- " + comment(step.statement()) + "\n");
            } else if (!isBeforeRows(step) && !step.kind().equals(COUNTER)) {
                statement(step);
            }
        }
    }

    private static boolean isBeforeRows(Step step) {
        return BEFORE_ROWS.contains(step.kind()) && !DefinitionScript.isDerived(step.kind(), step.statement());
    }

    /** Whether a stream can be read. */
    private static boolean keepsRows(Step stream, Connection from) throws SQLException {
        if (!stream.statement().toLowerCase(Locale.ROOT).contains("retention")) {
            return false;
        }
        try (Statement statement = from.createStatement();
                ResultSet rows =
                        statement.executeQuery("SELECT 1 FROM " + RelationNames.quoted(stream.name()) + " LIMIT 1")) {
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
        String columns = columns(table, from).stream().map(Identifiers::quote).collect(Collectors.joining(", "));
        String target = RelationNames.quoted(table) + " (" + columns + ")";
        print("\nCOPY " + target + " FROM stdin;\n");
        from.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY " + target + " TO STDOUT", out);
        print("\\.\n");
    }

    /** Those that have values of their own. */
    private static List<String> columns(String table, Connection from) throws SQLException {
        List<String> columns = new ArrayList<>();
        try (PreparedStatement statement =
                from.prepareStatement("SELECT column_name FROM information_schema.columns WHERE table_schema = ?"
                        + " AND table_name = ? AND is_generated = 'NEVER' ORDER BY ordinal_position")) {
            String schema = RelationNames.prefix(table);
            statement.setString(1, schema.isEmpty() ? RelationNames.PUBLIC : schema);
            statement.setString(2, schema.isEmpty() ? table : table.substring(schema.length() + 1));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    columns.add(rows.getString(1));
                }
            }
        }
        return columns;
    }

    private void print(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
    }
}
