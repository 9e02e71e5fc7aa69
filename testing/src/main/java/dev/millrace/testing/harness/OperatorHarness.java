package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.operator.Operator;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;

/**
 * Drives an operator through a script, first plainly, then in many variations that must make no difference: how rows are
 * cut into batches, which input comes first between two signals, whether rows that count once carry weights, whether the
 * output is full, and restarts from a snapshot at the ends of epochs, split by key groups over several instances.
 *
 * <pre>
 *   new OperatorHarness(() -&gt; new MyOperator(...), inputSchema)
 *           .rows(Row.of("a", 1), Row.of("b", 2))
 *           .epochEnd()
 *           .watermark(60_000_000)
 *           .endOfInput()
 *           .expect(Row.of("a", 1L));
 * </pre>
 *
 * After each epoch the sum of what was emitted must be the same in all variations, and at the end what is expected.
 * Every run checks the contracts on the way ({@link dev.millrace.operator.Operator}): each batch closed once, nothing
 * written to after it was passed on, no byte left, progress after a full output. An epoch's end after the last event is
 * understood.
 *
 * <p>{@code -Dmillrace.harness.runs} sets how many variations (5), {@code -Dmillrace.harness.seed} their seed; a
 * failure prints the seed and what the variation was. {@code ./check --operators N} runs every script in N variations.
 */
public final class OperatorHarness {
    /** The key group of a row of an input: what the exchange before the operator would compute. */
    public interface KeyGroupOf {
        int keyGroup(int port, Batch batch, int row);
    }

    private static final int RUNS = Integer.getInteger("millrace.harness.runs", 5);
    private static final int MOST_TRIES = 300; // more variations, until what is to be seen was
    private static final long SEED = Long.getLong("millrace.harness.seed", 42);
    private static final Variation PLAIN = Variation.plain(42); // whatever the seed, as fixtures were written by it
    private static final long MEMORY_BYTES = 1L << 30;

    private final Supplier<Operator> factory;
    private final List<Schema> inputs;
    private final List<Event> script = new ArrayList<>();
    private Optional<KeyGroupOf> keyGroupOf = Optional.empty();
    private Optional<Schema> outputSchema = Optional.empty();
    private boolean appendOnlyInput;
    private boolean appendOnlyOutput;
    private boolean comparesEpochs = true;
    private boolean writesChanges;
    private Optional<String> fixture = Optional.empty();

    /** A harness for the operators of a factory, one schema per input port. */
    public OperatorHarness(Supplier<Operator> factory, Schema... inputs) {
        this.factory = factory;
        this.inputs = List.of(inputs);
    }

    /** Lets restarts split the state over up to four instances, and rows by their key group. */
    public OperatorHarness partitionedBy(KeyGroupOf newKeyGroupOf) {
        keyGroupOf = Optional.of(newKeyGroupOf);
        return this;
    }

    /** Checks the types and NOT NULL promises of what is emitted. */
    public OperatorHarness output(Schema schema) {
        outputSchema = Optional.of(schema);
        return this;
    }

    /** The operator is promised append-only input: batches never carry weights. */
    public OperatorHarness appendOnlyInput() {
        appendOnlyInput = true;
        return this;
    }

    /** Checks that the operator never retracts. */
    public OperatorHarness appendOnlyOutput() {
        appendOnlyOutput = true;
        return this;
    }

    /** Compares variations at the end only, for operators that may hold rows back beyond an epoch. */
    public OperatorHarness comparedAtTheEndOnly() {
        comparesEpochs = false;
        return this;
    }

    /** Requires that some runs had written only what had changed, where the one before was kept, and went on from that. */
    public OperatorHarness writesChanges() {
        writesChanges = true;
        return this;
    }

    /**
     * Compares the state after the second epoch with a {@link StateFixture}, from which one more run goes on; and where it
     * {@link #writesChanges}, so that of the first epoch with what changed in the second.
     */
    public OperatorHarness keepsFormat(String newFixture) {
        fixture = Optional.of(newFixture);
        return this;
    }

    /** Rows of input 0, each once. */
    public OperatorHarness rows(Row... rows) {
        return rowsOf(0, List.of(rows));
    }

    /** Rows of an input, each once. */
    public OperatorHarness rowsOf(int port, List<Row> rows) {
        rows.forEach(row -> weighted(port, row, 1));
        return this;
    }

    /** A row of an input with a weight: -1 retracts. */
    public OperatorHarness weighted(int port, Row row, long weight) {
        if (weight == 0 || appendOnlyInput && weight != 1) {
            throw new IllegalArgumentException("weight " + weight);
        }
        script.add(new Event.Input(port, TestBatches.canonical(inputs.get(port), row), weight));
        return this;
    }

    /** The combined watermark of all inputs, in microseconds; may only grow. */
    public OperatorHarness watermark(long micros) {
        for (Event event : script) {
            if (event instanceof Event.Watermark earlier && earlier.micros() > micros) {
                throw new IllegalArgumentException(
                        "the watermark goes back from " + earlier.micros() + " to " + micros);
            }
        }
        script.add(new Event.Watermark(micros));
        return this;
    }

    /** The end of an epoch on all inputs: where restarts happen. */
    public OperatorHarness epochEnd() {
        script.add(new Event.EpochEnd());
        return this;
    }

    /** The last watermark, which closes every window. */
    public OperatorHarness endOfInput() {
        return watermark(Operator.END_OF_INPUT);
    }

    /** Runs all variations; the sum of the output must be these rows, each once (or as often as given). */
    public void expect(Row... rows) {
        expect(List.of(rows));
    }

    /** Runs all variations; the sum of the output must be these rows. */
    public void expect(List<Row> rows) {
        ZSet expected = new ZSet();
        rows.forEach(row -> expected.add(
                outputSchema.map(schema -> TestBatches.canonical(schema, row)).orElse(row), 1));
        expect(expected);
    }

    /** Runs all variations; the sum of the output must be this. */
    public void expect(ZSet expected) {
        check(Optional.of(expected), Optional.empty());
    }

    /** Like {@link #expect(ZSet)}, and the rows reported as late must be these. */
    public void expect(ZSet expected, ZSet expectedLate) {
        check(Optional.of(expected), Optional.of(expectedLate));
    }

    /** Runs all variations, which need only agree with each other; returns the sum of the output. */
    public ZSet runAll() {
        return check(Optional.empty(), Optional.empty());
    }

    /** Runs the script once, plainly; for tests of failures, and to look at. */
    public ZSet runOnce() {
        return lastOf(run(PLAIN).afterEpochs());
    }

    private ZSet check(Optional<ZSet> expected, Optional<ZSet> expectedLate) {
        HarnessRun reference = run(PLAIN);
        ZSet result = lastOf(reference.afterEpochs());
        expected.ifPresent(rows -> fail(rows.differences(result), "the plain run"));
        expectedLate.ifPresent(rows -> fail(rows.differences(reference.late()), "late rows of the plain run"));
        fixture.ifPresent(name -> goOnFrom(name, reference));
        RandomGenerator seeds = new SplittableRandom(SEED);
        boolean isSeen = !writesChanges;
        for (int i = 0; i < RUNS || !isSeen && i < RUNS + MOST_TRIES; i++) {
            Variation variation = Variation.random(seeds.nextLong(), !appendOnlyInput, keyGroupOf.isPresent());
            HarnessRun run = run(variation);
            compare(reference, run, variation.toString());
            isSeen |= run.changes() > 0;
        }
        if (!isSeen) {
            throw new AssertionError("in no run was only what had changed written");
        }
        return result;
    }

    private void goOnFrom(String name, HarnessRun reference) {
        String how = "going on from the fixture " + name;
        compare(reference, run(PLAIN, Optional.of(name), false), how);
        if (writesChanges) {
            compare(reference, run(PLAIN, Optional.of(name + "-since"), true), how + "-since");
        }
    }

    private void compare(HarnessRun reference, HarnessRun run, String how) {
        fail(reference.late().differences(run.late()), "late rows of " + how);
        for (int epoch = 0; epoch < run.afterEpochs().size(); epoch++) {
            boolean last = epoch == run.afterEpochs().size() - 1;
            if (comparesEpochs || last) {
                ZSet wanted = reference.afterEpochs().get(epoch);
                fail(
                        wanted.differences(run.afterEpochs().get(epoch)),
                        "the sum after epoch " + (epoch + 1) + " of " + how);
            }
        }
    }

    private HarnessRun run(Variation variation) {
        return run(variation, Optional.empty(), false);
    }

    private HarnessRun run(Variation variation, Optional<String> from, boolean isOfChanges) {
        RootAllocator root = PoisonedAllocation.newRoot(MEMORY_BYTES);
        CheckedOutput output = new CheckedOutput(outputSchema, appendOnlyOutput);
        HarnessRun run = new HarnessRun(factory, inputs, keyGroupOf, output, variation, from, isOfChanges, root);
        try {
            run.run(script);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "\nin " + describe(variation), e);
        } catch (RuntimeException e) {
            e.addSuppressed(new AssertionError("in " + describe(variation)));
            throw e;
        }
        root.close();
        return run;
    }

    private static void fail(String differences, String where) {
        if (!differences.isEmpty()) {
            throw new AssertionError(where + " (-Dmillrace.harness.seed=" + SEED + ") differs:\n" + differences);
        }
    }

    private static String describe(Variation variation) {
        return variation + " (-Dmillrace.harness.seed=" + SEED + ")";
    }

    private static ZSet lastOf(List<ZSet> sums) {
        return sums.get(sums.size() - 1);
    }
}
