package dev.millrace.edge.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.program.Term.Kind;
import dev.millrace.edge.program.Term.Operator;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RowProgramTest {
    private static final String CHARACTERS = "ab \"\\()\n\t\u2028\u0000é=";
    private static final Schema COLUMNS = new Schema(List.of(
            new Field("ok", DataType.BOOLEAN, true),
            new Field("n", DataType.BIGINT, true),
            new Field("x", DataType.DOUBLE, true),
            new Field("name", DataType.TEXT, true)));

    /** One row of objects; null is NULL. */
    private record Row(Object... values) implements RowValues {
        @Override
        public boolean isNull(int column, int row) {
            return values[column] == null;
        }

        @Override
        public boolean truth(int column, int row) {
            return (Boolean) values[column];
        }

        @Override
        public long whole(int column, int row) {
            return (Long) values[column];
        }

        @Override
        public double number(int column, int row) {
            return (Double) values[column];
        }

        @Override
        public String text(int column, int row) {
            return (String) values[column];
        }
    }

    private static boolean needs(String condition, Object... row) {
        RowProgram program = RowProgram.parse("(1 (\"n\") " + condition + ")");
        return new RowNeeds(List.of(program), COLUMNS).needs(new Row(row), 0);
    }

    private static final String N = "(column whole \"n\")";
    private static final String X = "(column number \"x\")";

    @Test
    void conditionsAreWhatTheyAreInSql() {
        assertTrue(needs("(gt " + N + " (whole 3))", true, 4L, 1.0, "a"));
        assertFalse(needs("(gt " + N + " (whole 3))", true, 3L, 1.0, "a"));
        assertFalse(needs("(gt " + N + " (whole 3))", true, null, 1.0, "a"), "NULL is not true");
        assertFalse(needs("(not (gt " + N + " (whole 3)))", true, null, 1.0, "a"), "nor is what is not NULL");
        assertTrue(needs("(or (is_null " + N + ") (truth false))", true, null, 1.0, "a"));
        assertFalse(needs("(and (truth true) (eq " + N + " (whole 1)))", true, null, 1.0, "a"));
        assertTrue(needs("(or (eq " + N + " (whole 1)) (truth true))", true, null, 1.0, "a"));
        assertTrue(needs("(gt " + X + " (number Infinity))", true, 1L, Double.NaN, "a"), "NaN is beyond all");
        assertTrue(needs("(eq " + X + " (number NaN))", true, 1L, Double.NaN, "a"));
        assertTrue(needs("(eq " + X + " (number -0.0))", true, 1L, 0.0, "a"));
        assertTrue(needs("(eq (column text \"name\") (text \"a\"))", true, 1L, 0.0, "a"));
        assertTrue(
                needs("(ne (column text \"NAME\") (text \"b\"))", true, 1L, 0.0, "a"), "as the server finds columns");
        assertTrue(needs("(column truth \"ok\")", true, 1L, 0.0, "a"));
        assertTrue(needs("(gt (multiply (to_number " + N + ") (number 0.5)) " + X + ")", true, 3L, 1.4, "a"));
        assertTrue(needs("(is_null (column whole \"other\"))", true, 1L, 0.0, "a"), "what a device does not have");
    }

    @Test
    void whatOverflowsIsNeededAsTheServerFindsOutWhatItIs() {
        assertTrue(needs("(lt (add " + N + " (whole 1)) (whole 0))", true, Long.MAX_VALUE, 0.0, "a"));
        assertFalse(needs("(lt (add " + N + " (whole 1)) (whole 0))", true, 5L, 0.0, "a"));
        assertTrue(needs("(lt (multiply " + X + " " + X + ") (number 0.0))", true, 5L, 1e300, "a"));
        assertTrue(needs("(lt (multiply " + X + " " + X + ") (number 0.0))", true, 5L, 1e-300, "a"));
    }

    @Test
    void severalProgramsNeedWhatAnyOfThemNeeds() {
        RowProgram one = RowProgram.parse("(1 (\"n\") (eq " + N + " (whole 1)))");
        RowProgram other = RowProgram.parse("(1 (\"x\" \"gone\") (eq " + X + " (number 2)))");
        RowNeeds both = new RowNeeds(List.of(one, other), COLUMNS);
        assertTrue(both.needs(new Row(null, 1L, 0.0, null), 0));
        assertTrue(both.needs(new Row(null, 0L, 2.0, null), 0));
        assertFalse(both.needs(new Row(null, 0L, 0.0, null), 0));
        assertTrue(both.reads(1) && both.reads(2) && !both.reads(0) && !both.reads(3));
        assertFalse(new RowNeeds(List.of(), COLUMNS).needs(new Row(null, 0L, 0.0, null), 0), "nobody needs any");
        RowProgram all = new RowProgram(List.of("name"), Optional.empty());
        assertTrue(new RowNeeds(List.of(one, all), COLUMNS).needs(new Row(null, 0L, 0.0, null), 0));
    }

    private static Term term(Random random, int depth) {
        int kind = random.nextInt(depth == 0 ? 5 : 12);
        return switch (kind) {
            case 0 -> new Term.Column(Kind.values()[random.nextInt(4)], text(random));
            case 1 -> new Term.Truth(random.nextBoolean());
            case 2 -> new Term.Whole(random.nextLong());
            case 3 -> new Term.Number(Double.longBitsToDouble(random.nextLong()));
            case 4 -> new Term.Text(text(random));
            default -> {
                List<Term> arguments = new ArrayList<>();
                for (int i = random.nextInt(3); i >= 0; i--) {
                    arguments.add(term(random, depth - 1));
                }
                try {
                    yield new Term.Call(Operator.values()[random.nextInt(Operator.values().length)], arguments);
                } catch (MillraceException e) { // not for these
                    yield arguments.get(0);
                }
            }
        };
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
            text.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
        }
        return text.toString();
    }

    @Test
    void programsComeBackAsTheyWentInOneLine() {
        Random random = new Random(3);
        for (int i = 0; i < 5000; i++) {
            Term condition = new Term.Call(Operator.IS_NULL, List.of(term(random, 4)));
            RowProgram program = new RowProgram(List.of(text(random), text(random)), Optional.of(condition));
            String text;
            try {
                text = program.text();
            } catch (MillraceException e) {
                assertEquals(SqlState.PROGRAM_LIMIT_EXCEEDED, e.sqlState());
                continue;
            }
            assertEquals(1, text.lines().count());
            assertEquals(program, RowProgram.parse(text));
        }
    }

    private static SqlState refused(String text) {
        return assertThrows(MillraceException.class, () -> RowProgram.parse(text), () -> text)
                .sqlState();
    }

    @Test
    void whoeverSendsWhatIsNoProgramIsRefused() {
        assertEquals(SqlState.FEATURE_NOT_SUPPORTED, refused("(2 ())"));
        assertEquals(SqlState.PROGRAM_LIMIT_EXCEEDED, refused("(1 () " + "(not ".repeat(40) + "(truth true)"));
        assertEquals(SqlState.PROGRAM_LIMIT_EXCEEDED, refused("(1 () (or " + "(truth true) ".repeat(300) + "))"));
        assertEquals(SqlState.PROGRAM_LIMIT_EXCEEDED, refused("(1 (" + "\"a\" ".repeat(3000) + "))"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, refused("(1 () (whole 3))"), "no truth value");
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, refused("(1 () (gt (text \"a\") (text \"b\")))"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, refused("(1 () (gt (whole 1) (number 1)))"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, refused("(1 () (and))"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, refused("(1 ()) (truth true)"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, refused("(1 (\"a\\u00\"))"));
        String good = new RowProgram(
                        List.of("n", "x"),
                        Optional.of(new Term.Call(
                                Operator.AND,
                                List.of(
                                        new Term.Call(
                                                Operator.GT,
                                                List.of(new Term.Column(Kind.WHOLE, "n"), new Term.Whole(3))),
                                        new Term.Truth(true)))))
                .text();
        Random random = new Random(4);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder damaged = new StringBuilder(good);
            for (int change = random.nextInt(3); change >= 0; change--) {
                int at = random.nextInt(damaged.length());
                switch (random.nextInt(3)) {
                    case 0 -> damaged.deleteCharAt(at);
                    case 1 -> damaged.insert(at, "() \"\\1u".charAt(random.nextInt(7)));
                    default -> damaged.setCharAt(at, (char) random.nextInt(300));
                }
            }
            try {
                RowProgram.parse(damaged.toString());
            } catch (MillraceException e) {
                assertTrue(e.sqlState() != SqlState.INTERNAL_ERROR);
            }
        }
    }

    @Test
    void aColumnOfAnotherKindIsRefused() {
        RowProgram program = RowProgram.parse("(1 (\"n\") (eq (column number \"n\") (number 1)))");
        MillraceException error = assertThrows(MillraceException.class, () -> new RowNeeds(List.of(program), COLUMNS));
        assertEquals(SqlState.DATATYPE_MISMATCH, error.sqlState());
    }
}
