package dev.millrace.engine.calc;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.operator.Output;
import dev.millrace.testing.harness.DiscardingOutput;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * CPU time per row of the whole operator over batches of 4096 bids, best of many rounds; by name with an argument:
 *
 * <pre>
 *   java ... dev.millrace.engine.calc.CalcBenchmark [name prefix]
 * </pre>
 */
final class CalcBenchmark {
    private static final int ROWS = 4096;
    private static final int BATCHES = 8;
    private static final int ROUNDS = 15;
    private static final int BATCHES_PER_ROUND = 1000;
    private static final String CHANNEL_ID = "regexp_extract(url, '(&|^)channel_id=([^&]*)', 2)";

    private static final Schema BIDS = Schema.of(
            new Field("auction", DataType.BIGINT, false),
            new Field("price", DataType.BIGINT, false),
            new Field("amount", DataType.DOUBLE, false),
            new Field("channel", DataType.TEXT, false),
            new Field("url", DataType.TEXT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("maybe", DataType.BIGINT, true));

    private record Case(String name, String condition, List<String> projections) {}

    private static Case run(String name, String condition, String... projections) {
        return new Case(name, condition, List.of(projections));
    }

    private static final List<Case> CASES = List.of(
            run(
                    "filter, price and modulo",
                    "and(gt(price, 500000::bigint), eq(mod(auction, 123::bigint), 0::bigint))",
                    "auction"),
            run("filter, half pass", "gt(price, 1000::bigint)", "auction", "price"),
            run("filter, NULLs", "gt(maybe, 500::bigint)", "auction"),
            run("filter, text equal", "eq(channel, 'apple')", "auction"),
            run("filter, like contains", "like(url, '%channel!_id=1%', '!')", "auction"),
            run("gather text, half pass", "gt(price, 1000::bigint)", "url"),
            run("project double * .908", "", "multiply(amount, 0.908e0)"),
            run("project numeric * .908", "", "multiply(0.908, price::numeric(19,0))"),
            run("project bigint + bigint", "", "add(auction, price)"),
            run("project numeric / 3", "", "divide(price::numeric(19,0), 3.0)"),
            run("extract hour", "", "extract('hour', ts)"),
            run("to_char day", "", "to_char(ts, 'yyyy-MM-dd')"),
            run("lower", "", "lower(channel)"),
            run("split_index", "", "split_index(url, '/', 4)"),
            run("regexp_extract", "", CHANNEL_ID),
            run("bigint to text", "", "price::text"),
            run(
                    "NEXMark q21",
                    "or(is_not_null(" + CHANNEL_ID + "), eq(lower(channel), 'apple'), eq(lower(channel), 'google'))",
                    "auction",
                    "channel",
                    "case(eq(lower(channel), 'apple'), '0', eq(lower(channel), 'google'), '1', " + CHANNEL_ID + ")"),
            run(
                    "NEXMark q22",
                    "",
                    "channel",
                    "split_index(url, '/', 3)",
                    "split_index(url, '/', 4)",
                    "split_index(url, '/', 5)"));

    private CalcBenchmark() {}

    public static void main(String[] arguments) {
        String prefix = arguments.length > 0 ? arguments[0] : "";
        BufferAllocator allocator = PooledAllocation.newRoot(1L << 30);
        Batch[] batches = new Batch[BATCHES];
        for (int i = 0; i < BATCHES; i++) {
            batches[i] = bids(new SplittableRandom(i), allocator);
        }
        for (Case benchmark : CASES) {
            if (benchmark.name().startsWith(prefix)) {
                System.out.printf("%-28s %7.2f ns/row%n", benchmark.name(), measure(benchmark, batches, allocator));
            }
        }
    }

    private static double measure(Case benchmark, Batch[] batches, BufferAllocator allocator) {
        Optional<String> condition =
                benchmark.condition().isEmpty() ? Optional.empty() : Optional.of(benchmark.condition());
        double best = Double.MAX_VALUE;
        try (CalcOperator operator = new CalcOperator(
                CalcOperatorTest.calc(BIDS, condition, benchmark.projections().toArray(new String[0])))) {
            operator.open(new TestContext(allocator));
            for (int round = 0; round < ROUNDS; round++) {
                long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
                for (int i = 0; i < BATCHES_PER_ROUND; i++) {
                    operator.process(0, batches[i % BATCHES].retain(), DISCARDED);
                }
                long nanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
                best = Math.min(best, nanos / (double) (BATCHES_PER_ROUND * ROWS));
            }
        }
        return best;
    }

    private static final Output DISCARDED = new DiscardingOutput();

    /** Bids roughly as NEXMark makes them. */
    private static Batch bids(SplittableRandom random, BufferAllocator allocator) {
        FieldVector[] columns = new FieldVector[BIDS.size()];
        long[] clock = {1_704_067_200_000_000L};
        columns[0] = longs(0, allocator, () -> 1000L + random.nextInt(2000));
        columns[1] = longs(1, allocator, () -> (long) Math.pow(10, random.nextDouble() * 6));
        columns[2] = longs(2, allocator, () -> Double.doubleToRawLongBits(random.nextDouble() * 1e6));
        columns[3] = texts(3, allocator, () -> random.nextBoolean() ? "apple" : "channel-" + random.nextInt(10_000));
        columns[4] = texts(4, allocator, () -> {
            String url = "https://www.nexmark.com/" + word(random) + "/" + word(random) + "/" + word(random)
                    + "/item.htm?query=1";
            return random.nextInt(10) == 0 ? url : url + "&channel_id=" + random.nextInt(1 << 30);
        });
        columns[5] = longs(5, allocator, () -> clock[0] += 10_000);
        columns[6] = longs(6, allocator, () -> random.nextLong(1000));
        for (int row = 0; row < ROWS; row += 10) {
            Memory.clearBit(columns[6].getValidityBufferAddress(), row);
        }
        return Batch.of(BIDS, columns, ROWS);
    }

    private static String word(SplittableRandom random) {
        char[] letters = new char[5];
        for (int i = 0; i < letters.length; i++) {
            letters[i] = (char) random.nextInt('a', 'z' + 1);
        }
        return new String(letters);
    }

    private static FieldVector longs(int column, BufferAllocator allocator, Supplier<Long> values) {
        FieldVector vector = Vectors.allocate(BIDS.field(column), ROWS, 0, allocator);
        for (int row = 0; row < ROWS; row++) {
            Memory.putLong(vector.getDataBufferAddress() + 8L * row, values.get());
        }
        Vectors.setAllValid(vector, ROWS);
        Vectors.finish(vector, ROWS);
        return vector;
    }

    private static FieldVector texts(int column, BufferAllocator allocator, Supplier<String> values) {
        byte[][] texts = new byte[ROWS][];
        Arrays.setAll(texts, row -> values.get().getBytes(StandardCharsets.UTF_8));
        int bytes = Arrays.stream(texts).mapToInt(text -> text.length).sum();
        FieldVector vector = Vectors.allocate(BIDS.field(column), ROWS, bytes, allocator);
        int end = 0;
        for (int row = 0; row < ROWS; row++) {
            Memory.copyIn(texts[row], 0, vector.getDataBufferAddress() + end, texts[row].length);
            end += texts[row].length;
            Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, end);
        }
        Vectors.setAllValid(vector, ROWS);
        Vectors.finish(vector, ROWS);
        return vector;
    }
}
