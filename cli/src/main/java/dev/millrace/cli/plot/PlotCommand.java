package dev.millrace.cli.plot;

import dev.millrace.cli.operation.ServerConnection;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace plot QUERY}. Exit codes: 0, 1 after an error, 2 for wrong arguments. */
public final class PlotCommand {
    private static final int MOST_ROWS = 20_000;
    private static final int MOST_COLUMNS = 20;
    private static final String LOW = "_low";
    private static final String HIGH = "_high";
    private static final double NANOS_PER_SECOND = 1e9;

    private PlotCommand() {}

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("plot");
        spec.usageMessage()
                .description(
                        "Draws the answer of a query as SVG: its first column, a number or a time, from left to right, and of each other",
                        "column of numbers a line. Columns x_low and x_high are the bounds of column x, which are shaded.")
                .footer("", ServerConnection.PASSWORD_NOTE);
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("QUERY")
                .description("A SELECT whose rows are in the order of their first column.")
                .arity("1")
                .required(true)
                .type(String.class)
                .build());
        spec.addOption(OptionSpec.builder("-o", "--output")
                .paramLabel("FILE")
                .description("Write there instead of to standard output.")
                .type(String.class)
                .build());
        spec.addOption(OptionSpec.builder("--server")
                .paramLabel("SERVER")
                .description("host:port, or a URL of JDBC (default: localhost:5433).")
                .type(String.class)
                .build());
        spec.addOption(OptionSpec.builder("-U", "--user")
                .paramLabel("NAME")
                .description("The role to connect as (default: millrace).")
                .type(String.class)
                .build());
        return spec;
    }

    /** Returns the exit code. */
    public static int run(ParseResult arguments, PrintStream standardOutput, PrintStream err) {
        String server = arguments.matchedOptionValue("--server", "localhost:5433");
        try (Connection connection = ServerConnection.open(server, arguments.matchedOptionValue("--user", "millrace"));
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(arguments.matchedPositionalValue(0, ""))) {
            String picture = picture(rows);
            String file = arguments.matchedOptionValue("--output", "");
            if (file.isEmpty()) {
                standardOutput.print(picture);
            } else {
                Files.writeString(Path.of(file), picture);
            }
            return 0;
        } catch (SQLException | IOException | IllegalArgumentException e) {
            err.println("millrace plot: " + e.getMessage());
            return 1;
        }
    }

    /** @throws IllegalArgumentException if the answer cannot be drawn */
    private static String picture(ResultSet rows) throws SQLException {
        ResultSetMetaData columns = rows.getMetaData();
        int count = columns.getColumnCount();
        if (count < 2 || count > MOST_COLUMNS) {
            throw new IllegalArgumentException("the query has " + count + " columns; 2 to " + MOST_COLUMNS
                    + " can be drawn, the first one from left to right");
        }
        List<double[]> values = new ArrayList<>();
        boolean isTime = false;
        while (rows.next()) {
            if (values.size() == MOST_ROWS) {
                throw new IllegalArgumentException(
                        "the query has more than " + MOST_ROWS + " rows; aggregate them, or LIMIT them");
            }
            double[] row = new double[count];
            for (int column = 0; column < count; column++) {
                Object value = rows.getObject(column + 1);
                isTime |= column == 0 && value instanceof Timestamp;
                row[column] = number(value, columns, column + 1);
            }
            values.add(row);
        }
        List<SvgPlot.Line> lines = new ArrayList<>();
        for (int column = 1; column < count; column++) {
            String name = columns.getColumnLabel(column + 1);
            int low = place(columns, name + LOW);
            int high = place(columns, name + HIGH);
            if (low >= 0 && high >= 0) {
                lines.add(new SvgPlot.Line(name, column(values, column), column(values, low), column(values, high)));
            } else if (!isBound(columns, name)) {
                lines.add(new SvgPlot.Line(name, column(values, column)));
            }
        }
        return SvgPlot.of(columns.getColumnLabel(1), column(values, 0), isTime, lines);
    }

    private static int place(ResultSetMetaData columns, String name) throws SQLException {
        for (int column = 1; column <= columns.getColumnCount(); column++) {
            if (columns.getColumnLabel(column).equals(name)) {
                return column - 1;
            }
        }
        return -1;
    }

    /** Whether a column is one of the two bounds of another, both of which are there. */
    private static boolean isBound(ResultSetMetaData columns, String name) throws SQLException {
        String of = name.endsWith(LOW)
                ? name.substring(0, name.length() - LOW.length())
                : name.endsWith(HIGH) ? name.substring(0, name.length() - HIGH.length()) : "";
        return !of.isEmpty()
                && place(columns, of) > 0
                && place(columns, of + LOW) >= 0
                && place(columns, of + HIGH) >= 0;
    }

    private static double[] column(List<double[]> rows, int column) {
        return rows.stream().mapToDouble(row -> row[column]).toArray();
    }

    /** NaN of NULL; of a time, seconds since 1970, in UTC if it has no zone. */
    private static double number(@Nullable Object value, ResultSetMetaData columns, int column) throws SQLException {
        if (value == null) {
            return Double.NaN;
        } else if (value instanceof Number number) {
            return number.doubleValue();
        } else if (value instanceof Timestamp time) {
            long seconds = columns.getColumnTypeName(column).equals("timestamptz")
                    ? time.toInstant().getEpochSecond()
                    : time.toLocalDateTime().toEpochSecond(ZoneOffset.UTC);
            return seconds + time.getNanos() / NANOS_PER_SECOND;
        }
        throw new IllegalArgumentException(
                "column \"" + columns.getColumnLabel(column) + "\" is neither a number nor a time");
    }
}
