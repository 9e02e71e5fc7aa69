package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.server.realdata.DataFolder;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files in FROM give what DuckDB gives of them, for any number of workers. */
class FilesLikeDuckDbTest {
    private static final List<String> COLUMNS = List.of("id", "name", "amount", "day", "stamp", "yes");

    @TempDir
    Path folder;

    private static List<String> duckDb(String sql) {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> texts = new ArrayList<>();
            int columns = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                List<String> row = new ArrayList<>();
                for (int i = 1; i <= columns; i++) {
                    row.add(Optional.ofNullable(rows.getString(i)).orElse(""));
                }
                texts.add(plain(String.join("|", row)));
            }
            return texts.stream().sorted().toList();
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** Numbers, times and booleans in one form. */
    private static String plain(String row) {
        return Arrays.stream(row.split("\\|", -1))
                .map(value -> {
                    try {
                        return new BigDecimal(value).stripTrailingZeros().toPlainString();
                    } catch (NumberFormatException e) {
                        return value.replaceFirst("(:\\d\\d)\\.0+$", "$1")
                                .replaceFirst("^t$", "true")
                                .replaceFirst("^f$", "false");
                    }
                })
                .collect(Collectors.joining("|"));
    }

    private static List<String> ours(TestDatabase database, String sql) {
        return database.rows(sql).stream()
                .map(FilesLikeDuckDbTest::plain)
                .sorted()
                .toList();
    }

    /** Rows in some files, each written in the same way, with columns in an order of its own, some missing. */
    private final class Written {
        private final Random random;
        private final char delimiter;
        private final String end;
        private final boolean mark;
        private final boolean packed;

        Written(long seed) {
            this.random = new Random(seed);
            this.delimiter = ",;\t|".charAt(random.nextInt(4));
            this.end = random.nextBoolean() ? "\n" : "\r\n";
            this.mark = random.nextInt(4) == 0;
            this.packed = random.nextInt(3) == 0;
        }

        String write() throws IOException {
            int files = 1 + random.nextInt(4);
            for (int file = 0; file < files; file++) {
                List<String> columns = new ArrayList<>(COLUMNS);
                if (file > 0) {
                    Collections.shuffle(columns.subList(1, columns.size()), random);
                    columns = columns.subList(0, 3 + random.nextInt(columns.size() - 2));
                }
                StringBuilder text = new StringBuilder(mark ? "\ufeff" : "");
                text.append(String.join(String.valueOf(delimiter), columns)).append(end);
                int rows = file == 0 ? 20 + random.nextInt(3000) : random.nextInt(200);
                for (int row = 0; row < rows; row++) {
                    text.append(columns.stream()
                                    .map(this::value)
                                    .collect(Collectors.joining(String.valueOf(delimiter))))
                            .append(end);
                }
                Path path = folder.resolve("part" + file + (packed ? ".csv.gz" : ".csv"));
                try (OutputStream out =
                        packed ? new GZIPOutputStream(Files.newOutputStream(path)) : Files.newOutputStream(path)) {
                    out.write(text.toString().getBytes(StandardCharsets.UTF_8));
                }
            }
            return folder + "/part*.csv" + (packed ? ".gz" : "");
        }

        private String value(String column) {
            if (!column.equals("id") && random.nextInt(8) == 0) {
                return "";
            }
            return switch (column) {
                case "id" -> String.valueOf(random.nextInt(1_000_000));
                case "name" -> name();
                case "amount" -> random.nextInt(1000) + "." + random.nextInt(100) + 1;
                case "day" -> "2020-%02d-%02d".formatted(1 + random.nextInt(12), 13 + random.nextInt(15));
                case "stamp" ->
                    "2021-03-%02d %02d:%02d:%02d"
                            .formatted(
                                    13 + random.nextInt(15),
                                    random.nextInt(24),
                                    random.nextInt(60),
                                    1 + random.nextInt(59));
                default -> random.nextBoolean() ? "true" : "false";
            };
        }

        private String name() {
            return switch (random.nextInt(4)) {
                case 0 -> "\"a" + delimiter + " b\"";
                case 1 -> "\"say \"\"so\"\" " + random.nextInt(9) + "\"";
                case 2 -> "Köln " + (char) ('a' + random.nextInt(26));
                default -> "plain" + random.nextInt(100) + "x";
            };
        }
    }

    @Test
    void randomFilesOfDifferentHeaders() throws IOException {
        long first = Long.getLong("millrace.seed", 142);
        for (long seed = first; seed < first + 12; seed++) {
            String path = new Written(seed).write();
            String of = "read_csv('" + path + "', union_by_name = true)";
            for (int workers : new int[] {1, 2, 4}) {
                try (TestDatabase database = new TestDatabase(workers)) {
                    for (String query : List.of(
                            "SELECT id, name, amount, day, stamp, yes FROM " + of,
                            "SELECT count(*), count(name), sum(id), count(DISTINCT day), max(stamp) FROM " + of,
                            "SELECT day, count(*), max(amount) FROM " + of + " WHERE yes AND id > 500000 GROUP BY day",
                            "SELECT a.id, b.name FROM " + of + " a JOIN " + of
                                    + " b ON a.id = b.id AND a.stamp = b.stamp")) {
                        assertEquals(
                                duckDb(query),
                                ours(database, query),
                                "seed " + seed + ", " + workers + " workers: " + query);
                    }
                }
            }
            for (Path file : Files.list(folder).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void parquetThatDuckDbWrote() {
        String path = folder + "/t.parquet";
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "COPY (SELECT i AS id, 'n' || (i % 10) AS name, i / 4.0 AS v, TIMESTAMP '2020-01-01' + INTERVAL 1 MINUTE * i AS stamp"
                            + " FROM range(100000) t(i)) TO '" + path + "' (FORMAT parquet, ROW_GROUP_SIZE 10000)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        try (TestDatabase database = new TestDatabase(4)) {
            for (String query : List.of(
                    "SELECT name, count(*), sum(v), max(stamp) FROM '" + path + "' GROUP BY name",
                    "SELECT id, name FROM read_parquet('" + path + "') WHERE id BETWEEN 54321 AND 54330",
                    "SELECT count(*) FROM parquet_scan(['" + path + "', '" + path + "'])")) {
                boolean twice = query.contains("[");
                assertEquals(twice ? List.of("100000") : duckDb(query), ours(database, query), query);
            }
        }
    }

    @Test
    void theAirOfAnItalianTown() {
        String path = data("uci_air_quality/AirQualityUCI.csv");
        String duck = "read_csv('" + path
                + "', delim = ';', decimal_separator = ',', nullstr = ['', '-200'], dateformat = '%d/%m/%Y',"
                + " types = {'Date': 'DATE'})";
        String query =
                "SELECT count(*), min(\"%1$s\"), max(\"%1$s\"), count(%2$s), round(sum(\"%3$s\")::numeric(20,6), 3) FROM %4$s"
                        + " WHERE \"%1$s\" IS NOT NULL";
        List<String> expected = duckDb(query.formatted("Date", "nullif(\"CO(GT)\", -200)", "T", duck));
        for (int workers : new int[] {1, 2, 4}) {
            try (TestDatabase database = new TestDatabase(workers)) {
                assertEquals(expected, ours(database, query.formatted("date", "\"co(gt)\"", "t", "'" + path + "'")));
            }
        }
    }

    @Test
    void thePowerOfAHousehold() {
        String path = data("uci_household_power/household_power_2007H1.csv.gz");
        String query =
                "SELECT count(*), count(%1$s), round(sum(%1$s)::numeric(20,6), 3), max(\"time\"::text) FROM %2$s";
        List<String> expected = duckDb(query.formatted(
                        "\"Global_active_power\"",
                        "read_csv('" + path + "', nullstr = '?', types = {'Date': 'VARCHAR', 'Time': 'VARCHAR'})")
                .replace("max(\"time\"::text)", "lpad(max(lpad(\"Time\", 8, '0')), 8, '0')"));
        for (int workers : new int[] {1, 2, 4}) {
            try (TestDatabase database = new TestDatabase(workers)) {
                assertEquals(expected, ours(database, query.formatted("global_active_power", "'" + path + "'")));
            }
        }
    }

    private static String data(String relative) {
        Optional<Path> file = DataFolder.find(relative);
        if (file.isEmpty()) {
            System.out.println("skipped because there is no real data " + relative + "; set MILLRACE_DATA");
            Assumptions.abort("no " + relative);
        }
        return file.orElseThrow().toString();
    }
}
