package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.LiteralRows.Cell;
import dev.millrace.sql.statement.LiteralRows.Kind;
import dev.millrace.sql.statement.LiteralText;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is found in the rows of an INSERT without its grammar is what the grammar finds. */
class LiteralScannerTest {
    private static final long SEED = 20261127;
    private static final String START = "INSERT INTO t VALUES ";
    private static final List<DataType> TYPES =
            List.of(DataType.TEXT, DataType.INTEGER, DataType.DOUBLE, DataType.TIMESTAMP, DataType.BOOLEAN);

    /** Plain literals and what is not, or no literal, or the beginning of something longer. */
    private static final List<String> PIECES = List.of(
            "'a'",
            "''",
            "'it''s'",
            "''''",
            "'a' 'b'",
            "'a'\n'b'",
            "'a' -- b\n",
            "'a'/**/",
            "e'\\n'",
            "U&'\\0041'",
            "$$a$$",
            "'ä€𝄞'",
            "'?'",
            "'\n'",
            "'(', ('",
            "\"a\"",
            "NULL",
            "null",
            "nulls",
            "true",
            "FALSE",
            "t",
            "1",
            "-1",
            "- 1",
            "+1",
            "--1\n",
            "1.5",
            "-0.25",
            "1.",
            ".5",
            "1e5",
            "1.5e-3",
            "0x1f",
            "1_000",
            "12a",
            "1 + 1",
            "(1)",
            "1..2",
            "$1",
            "timestamp '2026-01-01'",
            "DATE'2026-01-01'",
            "TIMESTAMP\t'x'",
            "time '1:00'",
            "default",
            "'2026-01-01'",
            "1.5.5",
            "-",
            "'",
            "{}");

    private final Frontend frontend = new Frontend();

    /** A value's text as the grammar has it, and NULL as it is written. */
    private static String text(Cell cell) {
        return cell.kind() == Kind.NULL
                ? "NULL"
                : "<" + (cell.kind() == Kind.BOOLEAN ? lower(cell.text()) : cell.text()) + ">";
    }

    private static String lower(String word) {
        return word.toLowerCase(java.util.Locale.ROOT);
    }

    private static String text(LiteralText rows, int row, int column) {
        int length = rows.length(row, column);
        if (length == LiteralText.NULL) {
            return "NULL";
        }
        String text = new String(rows.text(), rows.start(row, column), length, StandardCharsets.UTF_8);
        return "<" + (TYPES.get(column) == DataType.BOOLEAN ? lower(text) : text) + ">";
    }

    private Optional<LiteralRows> byGrammar(String sql) {
        try {
            return frontend.insertOfConstants(sql).flatMap(parsed -> ((Syntax.Insert) parsed.syntax()).literals());
        } catch (MillraceException e) {
            return Optional.empty();
        }
    }

    private static boolean fit(LiteralRows rows) {
        boolean fit = rows.width() == TYPES.size();
        for (int i = 0; fit && i < rows.cells().size(); i++) {
            fit = rows.cells().get(i).kind().fits(TYPES.get(i % TYPES.size()));
        }
        return fit;
    }

    private static String row(Random random, double odd) {
        List<String> plain =
                List.of("'a" + random.nextInt(100) + "'", "" + random.nextInt(), "-1.5", "'2026-01-01'", "true");
        List<String> cells = new ArrayList<>();
        for (int column = 0; column < TYPES.size(); column++) {
            boolean isOdd = random.nextDouble() < odd;
            String cell = isOdd ? PIECES.get(random.nextInt(PIECES.size())) : plain.get(column);
            cells.add(" ".repeat(random.nextInt(2)) + cell + "\n".repeat(random.nextInt(2)));
        }
        if (random.nextDouble() < odd / 10) {
            cells.remove(0);
        }
        return "(" + String.join(",", cells) + ")";
    }

    @Test
    void rowsAreThoseOfTheGrammar() {
        Random random = new Random(SEED);
        int found = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder sql = new StringBuilder(START);
            int rows = 1 + random.nextInt(3);
            for (int row = 0; row < rows; row++) {
                sql.append(row == 0 ? "" : random.nextBoolean() ? ", " : ",").append(row(random, .1));
            }
            sql.append(List.of("", ";", " ; ", " RETURNING a", "; SELECT 1", ", ", ")")
                    .get(Math.max(0, random.nextInt(30) - 23)));
            Optional<LiteralText> scanned = frontend.constants(sql.toString(), START.length(), TYPES);
            if (scanned.isEmpty()) {
                continue;
            }
            LiteralRows expected = byGrammar(sql.toString()).orElseThrow(() -> new AssertionError(sql.toString()));
            assertTrue(fit(expected), sql.toString());
            assertEquals(expected.rows(), scanned.get().rows(), sql.toString());
            for (int row = 0; row < expected.rows(); row++) {
                for (int column = 0; column < TYPES.size(); column++) {
                    assertEquals(text(expected.cell(row, column)), text(scanned.get(), row, column), sql.toString());
                }
            }
            found++;
        }
        assertTrue(found > 5_000, found + " of 20000 were plain");
    }

    @Test
    void whatNearlyAllTextsAreIsPlain() {
        for (String rows : List.of(
                "('a', 1, -2.5, '2026-01-01 00:00:00', true)",
                "(NULL, null, 1, TIMESTAMP '2026-01-01', FALSE) , ('it''s', -7, 0.0, DATE '2026-01-01', NULL);",
                "(\t'?', 1,\r\n1, '', 'yes') ; ")) {
            String sql = "insert into \"T\" (a, b, c, d, e) values " + rows;
            int start = frontend.startOfRows(sql);
            assertEquals(sql.indexOf("values") + "values ".length(), start);
            assertTrue(frontend.constants(sql, start, TYPES).isPresent(), rows);
        }
    }

    @Test
    void whatIsNoTextIsRefused() {
        String half = START + "('\ud800', 1, 1, '', true)";
        try {
            assertTrue(frontend.constants(half, START.length(), TYPES).isEmpty());
        } catch (MillraceException e) {
            assertEquals("22021", e.sqlState().code());
        }
    }
}
