package dev.millrace.benchmarks.suite;

import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Asks the oracle a suite's queries, and compares. The oracle holds the streams' rows in tables of their names. */
final class Questions {
    /** How many rows of an answer are kept in its file. */
    private static final int KEPT_ROWS = 20;

    private static final String COLUMNS = "-- columns: ";

    private final Suite suite;
    private final Oracle oracle;

    Questions(Suite suite, Inputs inputs, Oracle oracle) {
        this.suite = suite;
        this.oracle = oracle;
        suite.oracleSetup(inputs).ifPresent(oracle::execute);
    }

    /**
     * How an answer differs from the oracle's; empty when it does not.
     *
     * @param watermark up to which windows are closed, as a literal
     * @param clockRows rows of the query's first stream that came before processing time last moved
     */
    String differences(String query, String watermark, long clockRows, Schema schema, List<Row> answer) {
        String sql = oracleSql(query, watermark, clockRows);
        Optional<String> reduced = suite.answerSql(query);
        if (reduced.isEmpty()) {
            return oracle.differences(sql, schema, ZSet.of(answer));
        }
        oracle.create("answer", schema);
        oracle.insert("answer", answer);
        Schema columns = columns(reduced.get());
        return oracle.differences(sql, columns, ZSet.of(oracle.query(reduced.get(), columns)));
    }

    private String oracleSql(String query, String watermark, long clockRows) {
        return suite.oracleSql(query)
                .replace("${watermark}", "TIMESTAMP '" + watermark + "'")
                .replace("${clock}", Long.toString(clockRows));
    }

    /** The whole answer as its file has it: the number of rows, and the first ones when sorted as texts. */
    String kept(String query, Schema schema) {
        Schema columns = suite.answerSql(query).map(Questions::columns).orElse(schema);
        List<String> lines = new ArrayList<>();
        for (Row row : oracle.query(oracleSql(query, "infinity", Long.MAX_VALUE), columns)) {
            lines.add(line(columns, row));
        }
        lines.sort(null);
        String header = lines.size() + " rows"
                + (lines.size() > KEPT_ROWS ? ", the first " + KEPT_ROWS + " in the order of their texts" : "");
        List<String> kept = new ArrayList<>(lines.subList(0, Math.min(lines.size(), KEPT_ROWS)));
        kept.add(0, header);
        return String.join("\n", kept) + "\n";
    }

    private static String line(Schema schema, Row row) {
        List<String> texts = new ArrayList<>();
        for (int column = 0; column < schema.size(); column++) {
            Object value = row.get(column);
            texts.add(value == null ? "NULL" : text(schema.type(column), value));
        }
        return String.join(" | ", texts);
    }

    private static String text(DataType type, Object value) {
        if (value instanceof Double number) {
            return String.format(java.util.Locale.ROOT, "%.9g", number);
        }
        if (type.kind() == DataType.Kind.TIMESTAMP && value instanceof Long micros) {
            return java.time.LocalDateTime.ofEpochSecond(
                            Math.floorDiv(micros, 1_000_000L),
                            (int) Math.floorMod(micros, 1_000_000L) * 1_000,
                            java.time.ZoneOffset.UTC)
                    .toString();
        }
        return value instanceof java.math.BigDecimal number
                ? number.stripTrailingZeros().toPlainString()
                : value.toString();
    }

    /** The columns of a reduced answer, as its first line names their types. */
    private static Schema columns(String sql) {
        if (!sql.startsWith(COLUMNS)) {
            throw new IllegalArgumentException("a reduced answer begins with the types of its columns: " + sql);
        }
        List<Field> fields = new ArrayList<>();
        for (String type : sql.substring(COLUMNS.length(), sql.indexOf('\n')).split(", ")) {
            DataType dataType = switch (type) {
                case "bigint" -> DataType.BIGINT;
                case "double" -> DataType.DOUBLE;
                case "boolean" -> DataType.BOOLEAN;
                case "text" -> DataType.TEXT;
                case "timestamp" -> DataType.TIMESTAMP;
                default -> throw new IllegalArgumentException("no type for a reduced answer: " + type);
            };
            fields.add(new Field("c" + fields.size(), dataType, true));
        }
        return new Schema(fields);
    }
}
