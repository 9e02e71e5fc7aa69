package dev.millrace.edge.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class WindowGroupsTest {
    private static final long SEED = Long.getLong("millrace.edge.groups.seed", 20261129);
    private static final Schema COLUMNS = new Schema(List.of(
            new Field("ts", DataType.TIMESTAMP, true),
            new Field("ok", DataType.BOOLEAN, true),
            new Field("n", DataType.BIGINT, true),
            new Field("x", DataType.DOUBLE, true),
            new Field("name", DataType.TEXT, true)));
    private static final String TEXT =
            "(2 \"q.1\" (tumble 10 3 \"ts\") (keys (column text \"name\") (column truth \"ok\"))"
                    + " (count (column whole \"n\")) (sum (column whole \"n\") (where (column truth \"ok\")))"
                    + " (min (column number \"x\"))"
                    + " (max (column whole \"n\")) (sum (column number \"x\"))"
                    + " (where (or (is_null (column number \"x\")) (gt (column number \"x\") (number -3.0)))))";
    private static final WindowProgram PROGRAM = WindowProgram.parse(TEXT);

    /** Rows of objects; null is NULL. */
    private record Rows(List<Object[]> rows) implements RowValues {
        @Override
        public boolean isNull(int column, int row) {
            return rows.get(row)[column] == null;
        }

        @Override
        public boolean truth(int column, int row) {
            return (Boolean) rows.get(row)[column];
        }

        @Override
        public long whole(int column, int row) {
            return (Long) rows.get(row)[column];
        }

        @Override
        public double number(int column, int row) {
            return (Double) rows.get(row)[column];
        }

        @Override
        public String text(int column, int row) {
            return (String) rows.get(row)[column];
        }
    }

    /** What is known of a group after all its partials were added up. */
    private static final class Sum {
        long rows;
        long count;
        Optional<BigInteger> sum = Optional.empty();
        Optional<Double> least = Optional.empty();
        Optional<Long> most = Optional.empty();
        Optional<Double> total = Optional.empty();

        void add(long moreRows, long moreCount, Object s, Object min, Object max, Object t) {
            rows += moreRows;
            count += moreCount;
            if (s instanceof Long value) {
                sum = Optional.of(sum.orElse(BigInteger.ZERO).add(BigInteger.valueOf(value)));
            }
            if (min instanceof Double value) {
                least = Optional.of(
                        least.filter(is -> Double.compare(is, value) <= 0).orElse(value));
            }
            if (max instanceof Long value) {
                most = Optional.of(Math.max(most.orElse(value), value));
            }
            if (t instanceof Double value) {
                total = Optional.of(total.orElse(0.0) + value);
            }
        }

        @Override
        public String toString() {
            return rows + " " + count + " " + sum + " " + least + " " + most + " " + total;
        }
    }

    private static Object orNothing(Optional<Object> value) {
        return value.orElse("");
    }

    private static void add(Map<String, Sum> to, byte[] bytes) {
        Partials partials = Partials.read(bytes, PROGRAM);
        assertEquals(
                partials.rows(),
                partials.groups().stream().mapToLong(Partials.Group::rows).sum());
        long before = Long.MIN_VALUE;
        for (Partials.Group group : partials.groups()) {
            assertTrue(group.windowMicros() >= before, "in order, or the server would find some late");
            before = group.windowMicros();
            List<Optional<Object>> values = group.values();
            to.computeIfAbsent(group.windowMicros() + " " + group.keys(), first -> new Sum())
                    .add(
                            group.rows(),
                            (Long) values.get(0).orElseThrow(),
                            orNothing(values.get(1)),
                            orNothing(values.get(2)),
                            orNothing(values.get(3)),
                            orNothing(values.get(4)));
        }
    }

    private static Object some(Random random, Object value) {
        return random.nextInt(8) == 0 ? null : value;
    }

    /** Taken, written down and read again at any time: what all partials add up to is what the rows add up to. */
    @Test
    void partialsAddUpToWhatTheRowsDo() {
        for (long seed = SEED; seed < SEED + 100; seed++) {
            Random random = new Random(seed);
            Map<String, Sum> expected = new TreeMap<>();
            Map<String, Sum> seen = new TreeMap<>();
            WindowGroups groups = new WindowGroups(PROGRAM, COLUMNS);
            for (int i = 0; i < 500; i++) {
                long time = i / 2 - random.nextInt(30);
                Object[] row = {
                    time,
                    some(random, random.nextBoolean()),
                    some(random, random.nextInt(4) == 0 ? Long.MAX_VALUE - random.nextInt(3) : random.nextInt(9) - 4L),
                    some(random, (random.nextInt(40) - 20) / 4.0),
                    some(random, "m" + random.nextInt(3))
                };
                groups.add(new Rows(List.<Object[]>of(row)), 0, time);
                if (row[3] == null || (Double) row[3] > -3) {
                    long window = Math.floorDiv(time - 3, 10) * 10 + 3;
                    String key = window + " " + List.of(Optional.ofNullable(row[4]), Optional.ofNullable(row[1]));
                    expected.computeIfAbsent(key, first -> new Sum())
                            .add(
                                    1,
                                    row[2] == null ? 0 : 1,
                                    Boolean.TRUE.equals(row[1]) ? Objects.requireNonNullElse(row[2], "") : "",
                                    Objects.requireNonNullElse(row[3], ""),
                                    Objects.requireNonNullElse(row[2], ""),
                                    Objects.requireNonNullElse(row[3], ""));
                }
                switch (random.nextInt(20)) {
                    case 0 -> groups.takeEnded().ifPresent(bytes -> add(seen, bytes));
                    case 1 -> groups.takeAll().ifPresent(bytes -> add(seen, bytes));
                    case 2 -> {
                        byte[] state = groups.state();
                        groups = new WindowGroups(PROGRAM, COLUMNS);
                        if (state.length > 0) {
                            groups.restore(state);
                        }
                    }
                    default -> {}
                }
            }
            groups.takeAll().ifPresent(bytes -> add(seen, bytes));
            assertTrue(groups.isEmpty());
            assertEquals(0, groups.bytes());
            assertEquals(expected.toString(), seen.toString(), "seed " + seed);
        }
    }

    /** Nine bytes of seven bits and one of the last: a number from outside that is negative in 64 bits. */
    @Test
    void negativeNumbersOfRowsOrGroupsAreRefused() {
        byte[] id = PROGRAM.id().getBytes(StandardCharsets.UTF_8);
        byte[] negative = {-1, -1, -1, -1, -1, -1, -1, -1, -1, 1};
        byte[] none = {0};
        for (List<byte[]> numbers : List.of(List.of(negative, none), List.of(none, negative))) {
            ByteBuffer bytes = ByteBuffer.allocate(100);
            bytes.put((byte) Partials.VERSION).put((byte) id.length).put(id);
            bytes.put(numbers.get(0)).put((byte) 0).put(numbers.get(1));
            byte[] all = Arrays.copyOf(bytes.array(), bytes.position());
            MillraceException refused = assertThrows(MillraceException.class, () -> Partials.read(all, PROGRAM));
            assertEquals(SqlState.DATA_CORRUPTED, refused.sqlState());
        }
    }

    @Test
    void windowsThatHaveEndedAreTakenAndOthersStay() {
        WindowGroups groups = new WindowGroups(PROGRAM, COLUMNS);
        for (long time : List.of(3L, 12L, 13L)) {
            groups.add(new Rows(List.<Object[]>of(new Object[] {time, true, 1L, 1.0, "a"})), 0, time);
        }
        Partials ended = Partials.read(groups.takeEnded().orElseThrow(), PROGRAM);
        assertEquals(
                List.of(3L),
                ended.groups().stream().map(Partials.Group::windowMicros).toList());
        assertEquals(2, ended.groups().get(0).rows());
        assertEquals(13, ended.latestMicros());
        assertTrue(groups.takeEnded().isEmpty());
        assertEquals(
                13,
                Partials.read(groups.takeAll().orElseThrow(), PROGRAM)
                        .groups()
                        .get(0)
                        .windowMicros());
    }

    @Test
    void programsAreReadAsTheyWereWrittenAndWhatIsNoneIsRefused() {
        assertEquals(TEXT, PROGRAM.text());
        assertEquals(PROGRAM, WindowProgram.parse(PROGRAM.text()));
        assertEquals(List.of("ts", "name", "ok", "n", "x"), PROGRAM.rows().columns());
        assertEquals(PROGRAM.condition(), PROGRAM.rows().condition());
        assertEquals(
                List.of("ts", "x"),
                WindowProgram.parse(
                                "(2 \"q\" (tumble 1 0 \"ts\") (keys) (count (truth true) (where (is_null (column number \"x\")))))")
                        .rows()
                        .columns());
        for (String wrong : List.of(
                TEXT.replace("(2 ", "(1 "),
                TEXT.replace("tumble 10 3", "tumble 10 10"),
                TEXT.replace("tumble 10 3", "tumble 0 0"),
                TEXT.replace("tumble", "hop"),
                TEXT.replace("\"q.1\"", "\"q 1\""),
                TEXT.replace("(sum (column whole", "(sum (column text"),
                TEXT.replace("(count (column whole \"n\"))", "(count (add (column whole \"n\") (whole 1)))"),
                TEXT.replace("(where (column truth \"ok\"))", "(where (column whole \"n\"))"),
                TEXT.replace("(where (column truth \"ok\"))", "(where (truth true)) (where (truth true))"),
                TEXT.replace("(where (column truth \"ok\"))", "(truth true)"),
                TEXT.replace("(gt (column number \"x\") (number -3.0))", "(whole 3)"),
                TEXT + " ",
                TEXT.substring(0, TEXT.length() - 1),
                TEXT.replace("(keys", "(keys" + " (column whole \"n\")".repeat(100)))) {
            assertThrows(MillraceException.class, () -> WindowProgram.parse(wrong), wrong);
        }
        MillraceException other = assertThrows(MillraceException.class, () -> RowProgram.parse(PROGRAM.text()));
        assertEquals(SqlState.FEATURE_NOT_SUPPORTED, other.sqlState(), "who knows version 1 alone refuses it");
        assertThrows(
                MillraceException.class,
                () -> new WindowGroups(WindowProgram.parse(TEXT.replace("text \"name\"", "whole \"name\"")), COLUMNS));
    }

    @Test
    void damagedPartialsAreNeverReadAsOthersOfAnotherLength() {
        WindowGroups groups = new WindowGroups(PROGRAM, COLUMNS);
        Random random = new Random(SEED);
        for (int i = 0; i < 20; i++) {
            Object[] row = {(long) i, true, some(random, (long) i), some(random, 1.5), some(random, "m" + i % 3)};
            groups.add(new Rows(List.<Object[]>of(row)), 0, i);
        }
        byte[] bytes = groups.state();
        List<Integer> read = new ArrayList<>();
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThrows(MillraceException.class, () -> Partials.read(cut, PROGRAM));
        }
        for (int i = 0; i < 2000; i++) {
            byte[] damaged = bytes.clone();
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            try {
                read.add(Partials.read(damaged, PROGRAM).groups().size());
            } catch (MillraceException e) {
                assertEquals(SqlState.DATA_CORRUPTED, e.sqlState());
            }
        }
        assertTrue(!read.isEmpty());
    }
}
