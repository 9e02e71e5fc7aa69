package dev.millrace.server.differential;

import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The relation that random queries are about: a column per type, few values in some so that groups and duplicates happen,
 * NULLs, NaN and infinities, the ends of ranges. Numbers that get added are multiples of a quarter: their sums are exact
 * in any order. Rows come in order of time but for a few seconds; of some relations now and then one comes much later.
 */
final class RandomRows {
    /** How much earlier than the latest before it a row may be. */
    static final long DELAY_MICROS = 5_000_000;

    static final Schema SCHEMA = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("k", DataType.SMALLINT, true),
            new Field("g", DataType.TEXT, true),
            new Field("i", DataType.INTEGER, true),
            new Field("l", DataType.BIGINT, true),
            new Field("big", DataType.BIGINT, true),
            new Field("d", DataType.DOUBLE, true),
            new Field("x", DataType.DOUBLE, true),
            new Field("r", DataType.REAL, true),
            new Field("n", DataType.numeric(12, 2), true),
            new Field("w", DataType.BIGNUM, true),
            new Field("b", DataType.BOOLEAN, true),
            new Field("t", DataType.TEXT, true),
            new Field("day", DataType.DATE, true),
            new Field("tz", DataType.TIMESTAMPTZ, true),
            new Field("tm", DataType.TIME, true),
            new Field("u", DataType.UUID, true));

    /**
     * The columns in the oracle, which also knows the watermark that the rows before each one had brought: lateness is a
     * property of the row (docs/decisions/0003).
     */
    static final Schema ORACLE_SCHEMA = withWatermark();

    /** The columns as CREATE STREAM and CREATE TABLE declare them. */
    static final String DECLARATIONS = SCHEMA.fields().stream()
            .map(Field::toString)
            .reduce((a, b) -> a + ", " + b)
            .orElseThrow();

    /** Before all rows. */
    static final long EARLIEST_MICROS = -2_208_988_800_000_000L;

    /** The same as the oracle writes it. */
    static final String EARLIEST = "TIMESTAMP '1900-01-01'";

    private static final long MODERN_MICROS = 1_700_000_000_000_000L;
    private static final long SOON_1970_MICROS = -20_000_000L;
    private static final long IN_1950_MICROS = -628_300_123_456_789L;
    private static final long DAY_MICROS = 86_400_000_000L;

    private static final String[] GROUPS = {
        "a", "b", "", "ü", "A", "longer than sixteen bytes", "longer than sixteen letters"
    };
    /** The last two are the other way round in the order of UTF-16. */
    private static final String[] TEXTS = {
        "",
        " ",
        "apple",
        "Apple pie",
        "a/b/c",
        "x%y_z",
        "été",
        "世界",
        "it's",
        "NULL",
        "0",
        "banana",
        "  padded  ",
        "a/b/c, and more of it",
        "a/b/c, and more of all",
        "\uff5e",
        "\ud83d\ude00"
    };

    private static final double[] STRANGE = {
        Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0, -0.0, 1e300, -1e300, Double.MIN_VALUE, 1.5
    };
    /** Around where 64 bits end. */
    private static final String[] WIDE = {
        "0",
        "0.0001",
        "-0.0001",
        "922337203685477.5807",
        "922337203685477.5808",
        "-922337203685477.5809",
        "1844674407370955.1615",
        "1844674407370955.1616",
        "123456789012345678901234.5678",
        "-123456789012345678901234.5678"
    };

    private static final long[] EXTREME = {Long.MAX_VALUE, Long.MIN_VALUE, 0, -1, 1L << 53, (1L << 53) + 1};

    private final Chance chance;
    private final int nullPercent;
    private final int latePercent;
    private final long stepMicros;
    /** All times are multiples of it, so that some are a session's gap apart, or where a window ends. */
    private final long tickMicros;

    private final long startMicros;

    private long nextId;
    private long latestMicros;

    RandomRows(Chance chance) {
        this.chance = chance;
        this.nullPercent = chance.of(0, 5, 30);
        this.latePercent = chance.of(0, 0, 3, 15);
        this.stepMicros = chance.of(1_000L, 300_000L, 3_000_000L, 40_000_000L);
        this.tickMicros = chance.of(1L, 1L, 500_000L, 1_000_000L);
        this.startMicros = chance.of(MODERN_MICROS, MODERN_MICROS, SOON_1970_MICROS, IN_1950_MICROS);
        this.latestMicros = startMicros;
    }

    private static Schema withWatermark() {
        List<Field> fields = new ArrayList<>(SCHEMA.fields());
        fields.add(new Field("wm", DataType.TIMESTAMP, false));
        return new Schema(fields);
    }

    /** The row as the oracle has it. */
    static Row withWatermark(Row row, long watermarkMicros) {
        List<Object> values = new ArrayList<>(row.values());
        values.add(watermarkMicros);
        return new Row(values);
    }

    List<Row> next(int count) {
        List<Row> rows = new ArrayList<>(count);
        for (int row = 0; row < count; row++) {
            rows.add(next());
        }
        return rows;
    }

    /** Other values under the same {@code id}. */
    Row updated(Row row) {
        List<Object> values = new ArrayList<>(next().values());
        values.set(0, row.get(0));
        return new Row(values);
    }

    private Row next() {
        long ahead = stepMicros * chance.below(3) + chance.below(2) * chance.below(1000);
        long micros = chance.percent(latePercent)
                ? latestMicros - DELAY_MICROS - chance.below(1000) * chance.of(1_000L, 100_000L, 10_000_000L)
                : chance.percent(30)
                        ? latestMicros - chance.below((int) DELAY_MICROS)
                        : latestMicros + (chance.percent(20) ? 0 : ahead);
        micros += Math.floorMod(-micros, tickMicros);
        long day = startMicros == MODERN_MICROS ? 19_000 : Math.floorDiv(startMicros, DAY_MICROS) - 5;
        latestMicros = Math.max(latestMicros, micros);
        return Row.of(
                nextId++,
                micros,
                orNull((long) chance.below(4)),
                orNull(chance.of(GROUPS)),
                orNull((long) chance.between(-100, 100)),
                orNull((long) chance.between(-1_000_000, 1_000_000)),
                orNull(EXTREME[chance.below(EXTREME.length)]),
                orNull(quarters(2000)),
                orNull(STRANGE[chance.below(STRANGE.length)]),
                orNull(quarters(20)),
                orNull(BigDecimal.valueOf(chance.between(-1_000_000, 1_000_000), 2)),
                orNull(new BigDecimal(chance.of(WIDE))),
                orNull(chance.percent(50)),
                orNull(chance.of(TEXTS)),
                orNull(day + chance.below(11)),
                orNull(startMicros + 3_600_000_000L * chance.between(-30, 30)),
                orNull(60_000_000L * chance.below(1440)),
                orNull(new UUID(0x1234_4000L, chance.below(5))));
    }

    /** A multiple of a quarter; one in twenty is a zero, of either sign. */
    private double quarters(int most) {
        return chance.below(20) == 0 ? chance.of(0.0, -0.0) : chance.between(-most, most) / 4.0;
    }

    private Object orNull(Object value) {
        return chance.percent(nullPercent) ? null : value;
    }

    /** Brings the next rows to the stream of a database that has it. */
    List<Row> insert(TestDatabase database, int count) {
        List<Row> rows = next(count);
        database.database()
                .insert(
                        RandomRound.STREAM,
                        TestBatches.of(SCHEMA, database.database().engine().allocator(), rows));
        return rows;
    }
}
