package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.testing.harness.OperatorHarness.KeyGroupOf;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Assertions;

/** One run of a script in one variation. Used once. */
final class HarnessRun {
    private static final int MOST_RESUMPTIONS = 1_000_000;
    private static final int MOST_AHEAD = 200; // events that come while a frozen state is written

    /** Takes what is not to be seen. */
    private static final Output NOWHERE = new DiscardingOutput();

    private record Instance(Operator operator, BufferAllocator allocator, KeyGroups owned) {}

    private final Supplier<Operator> factory;
    private final List<Schema> inputs;
    private final Optional<KeyGroupOf> keyGroupOf;
    private final Variation variation;
    private final Optional<String> fixture; // that the third epoch begins with
    private final Optional<StateFixture.Recording>
            ofChanges; // if it has what there was after the first, and what changed in the second
    private final BufferAllocator root;
    private final TestClock clock;
    private final RandomGenerator random;
    private final CheckedOutput output;
    private final ZSet late = new ZSet();
    private final List<ZSet> afterEpochs = new ArrayList<>();
    private final List<Instance> instances = new ArrayList<>();
    private final List<Witness> watched = new ArrayList<>();
    private final List<Event.Input> pending = new ArrayList<>();
    private HarnessSaves saves;
    private int changes;
    private long epoch;

    HarnessRun(
            Supplier<Operator> factory,
            List<Schema> inputs,
            Optional<KeyGroupOf> keyGroupOf,
            CheckedOutput output,
            Variation variation,
            Optional<String> fixture,
            boolean isOfChanges,
            BufferAllocator root) {
        this.factory = factory;
        this.inputs = inputs;
        this.keyGroupOf = keyGroupOf;
        this.variation = variation;
        this.fixture = fixture;
        this.ofChanges = isOfChanges ? Optional.of(new StateFixture.Recording()) : Optional.empty();
        this.root = root;
        this.clock = new TestClock(1_700_000_000_000_000L);
        this.random = new SplittableRandom(variation.seed() ^ 0x9E3779B97F4A7C15L);
        this.output = output;
        this.saves = new HarnessSaves(random);
    }

    /** How often only what had changed of a state was written. */
    int changes() {
        return changes;
    }

    /** What was emitted, in sum, after each epoch; last what there was at the end of the script. */
    List<ZSet> afterEpochs() {
        return afterEpochs;
    }

    ZSet late() {
        return late;
    }

    void run(List<Event> script) {
        boolean completed = false;
        try {
            start(1, Optional.empty());
            for (int at = 0; at < script.size(); at++) {
                Event event = script.get(at);
                saves.goOn();
                if (event instanceof Event.Input input) {
                    pending.add(input);
                } else if (event instanceof Event.Watermark watermark) {
                    deliverPending();
                    signal((operator, to) -> operator.onWatermark(watermark.micros(), to), "onWatermark");
                } else {
                    deliverPending();
                    endEpoch(script.subList(at + 1, script.size()));
                }
            }
            deliverPending();
            endEpoch(List.of());
            completed = true;
        } finally {
            if (!completed) {
                abandon();
            }
        }
        stop();
        releaseInputs();
    }

    /** @param toCome what is going to follow */
    private void endEpoch(List<Event> toCome) {
        epoch++;
        clock.advance(random.nextInt(100_000));
        signal((operator, to) -> operator.onEpochEnd(epoch, to), "onEpochEnd");
        output.release();
        afterEpochs.add(output.collected().copy());
        if (fixture.isPresent() && epoch == 1) {
            ofChanges.ifPresent(recording -> record(recording, Kept.NOTHING));
        } else if (fixture.isPresent() && epoch == 2) {
            ofChanges.ifPresent(recording -> record(recording, Kept.ALL));
            StateReader saved = ofChanges.isPresent()
                    ? StateFixture.check(fixture.get(), ofChanges.get())
                    : StateFixture.check(fixture.get(), instances.get(0).operator);
            stop();
            start(1, Optional.of(owned -> saved));
        } else if (random.nextInt(100) < variation.savePercent()) {
            saves.begin(); // and the script goes on
        } else if (random.nextInt(100) < variation.restartPercent()) {
            writeInVain();
            if (random.nextBoolean()) {
                restart();
            } else {
                restartGradually(toCome.subList(0, random.nextInt(Math.min(MOST_AHEAD, toCome.size() + 1))));
            }
        }
    }

    private void record(StateFixture.Recording recording, Kept kept) {
        try (FrozenState frozen =
                ((Freezing) instances.get(0).operator).freeze(kept).orElseThrow()) {
            Assertions.assertEquals(kept == Kept.NOTHING, frozen.isWhole());
            boolean done = false;
            while (!done) {
                done = Assertions.assertDoesNotThrow(() -> frozen.writeMore(recording));
            }
        }
    }

    /** What is written for may take nothing from some byte on: operators go on as if they had not been asked. */
    private void writeInVain() {
        for (Instance instance : instances) {
            MemorySnapshot.Cut cut = new MemorySnapshot.Cut(1 << random.nextInt(12));
            try {
                instance.operator.snapshot(cut);
            } catch (IOException | UncheckedIOException e) {
                assert cut.isFull() : e;
            }
        }
    }

    private void restart() {
        MemorySnapshot snapshot = new MemorySnapshot();
        for (Instance instance : instances) {
            Assertions.assertDoesNotThrow(() -> instance.operator.snapshot(snapshot.writer(instance.owned)));
        }
        stop();
        start(1 + random.nextInt(variation.mostInstances()), Optional.of(snapshot::reader));
    }

    /** Writes what changed, or all, while operators are at some of what follows, of which nothing may be in it; and has others go on. */
    private void restartGradually(List<Event> ahead) {
        saves.begin();
        if (saves.isUnderWay()) {
            ZSet lateBefore = late.copy();
            int epochs = 0;
            for (Event event : ahead) {
                if (event instanceof Event.Input input) {
                    deliver(
                            input.port(),
                            List.of(input),
                            (instance, batch) -> instance.operator.process(input.port(), batch, NOWHERE));
                } else if (event instanceof Event.Watermark watermark) {
                    instances.forEach(instance -> instance.operator.onWatermark(watermark.micros(), NOWHERE));
                } else {
                    long number = epoch + ++epochs;
                    instances.forEach(instance -> instance.operator.onEpochEnd(number, NOWHERE));
                }
                saves.goOn();
            }
            saves.finish();
            ZSet lateAfter = late.copy();
            lateAfter.forEach((row, weight) -> late.add(row, -weight));
            late.addAll(lateBefore);
        }
        HarnessSaves saved = saves;
        stop();
        start(1 + random.nextInt(variation.mostInstances()), Optional.of(saved::reader));
    }

    private void start(int count, Optional<Function<KeyGroups, StateReader>> snapshot) {
        saves = new HarnessSaves(random);
        for (int index = 0; index < count; index++) {
            KeyGroups owned = KeyGroups.ownedBy(index, count);
            BufferAllocator allocator = root.newChildAllocator("operator " + index, 0, Long.MAX_VALUE);
            Instance instance = new Instance(factory.get(), allocator, owned);
            instances.add(instance);
            instance.operator.open(new HarnessContext(
                    allocator, clock, owned, variation.batchRows(), new OperatorMetrics(), late, Optional.empty()));
            snapshot.ifPresent(state -> instance.operator.restore(state.apply(owned)));
            saves.add(instance.operator, owned);
        }
    }

    private void stop() {
        output.release();
        changes += saves.changes();
        saves.close();
        for (Instance instance : instances) {
            instance.operator.close();
            instance.operator.close(); // idempotent, says the contract
            long left = instance.allocator.getAllocatedMemory();
            if (left != 0) {
                throw new AssertionError(left + " bytes left in the operator's allocator after close");
            }
            instance.allocator.close();
        }
        instances.clear();
    }

    /** After a failure: gives back what can be, so that the failure is what the test reports. */
    private void abandon() {
        try {
            output.release();
            saves.close();
            instances.forEach(instance -> instance.operator.close());
            watched.forEach(each -> each.batch().close());
        } catch (RuntimeException | AssertionError e) {
            // the operator is in no state to be judged further
        }
    }

    private interface Signal {
        boolean deliver(Operator operator, CheckedOutput output);
    }

    private void signal(Signal signal, String name) {
        for (Instance instance : instances) {
            for (int calls = 0; ; calls++) {
                output.beforeSignal(variation.fullOutput(), variation.batchRows(), random);
                if (signal.deliver(instance.operator, output)) {
                    break;
                }
                if (output.emitted() == 0 || calls > MOST_RESUMPTIONS) {
                    throw new AssertionError(name + " returned false without progress, though the output had room");
                }
            }
        }
    }

    /** Delivers the rows since the last signal: inputs interleaved at random, each in its order, in random chunks. */
    private void deliverPending() {
        Map<Integer, ArrayDeque<Event.Input>> byPort = new TreeMap<>();
        for (Event.Input input : pending) {
            byPort.computeIfAbsent(input.port(), port -> new ArrayDeque<>()).add(input);
        }
        pending.clear();
        while (!byPort.isEmpty()) {
            List<Integer> ports = List.copyOf(byPort.keySet());
            int port = ports.get(random.nextInt(ports.size()));
            ArrayDeque<Event.Input> queue = Objects.requireNonNull(byPort.get(port));
            int most = Math.min(variation.chunkRows(), queue.size());
            boolean plain = variation.chunkRows() == 4096;
            int rows = plain ? most : 1 + random.nextInt(most);
            List<Event.Input> chunk = new ArrayList<>(rows);
            while (chunk.size() < rows) {
                chunk.add(queue.remove());
            }
            if (queue.isEmpty()) {
                byPort.remove(port);
            }
            if (variation.emptyBatches() && random.nextBoolean()) {
                deliver(port, List.of());
            }
            deliver(port, chunk);
            saves.goOn();
        }
    }

    private void deliver(int port, List<Event.Input> chunk) {
        deliver(port, chunk, (instance, batch) -> {
            output.beforeProcess(Math.max(variation.batchRows(), batch.rowCount()));
            instance.operator.process(port, batch, output);
        });
    }

    private void deliver(int port, List<Event.Input> chunk, BiConsumer<Instance, Batch> process) {
        if (instances.size() == 1) {
            process(instances.get(0), port, chunk, process);
            return;
        }
        KeyGroupOf partitioner = keyGroupOf.orElseThrow();
        List<List<Event.Input>> parts = new ArrayList<>();
        instances.forEach(instance -> parts.add(new ArrayList<>()));
        try (Batch batch = batch(port, chunk)) {
            for (int row = 0; row < chunk.size(); row++) {
                int group = partitioner.keyGroup(port, batch, row);
                parts.get(KeyGroups.owner(group, instances.size())).add(chunk.get(row));
            }
        }
        for (int index = 0; index < parts.size(); index++) {
            process(instances.get(index), port, parts.get(index), process);
        }
    }

    private void process(Instance instance, int port, List<Event.Input> chunk, BiConsumer<Instance, Batch> process) {
        Batch batch = batch(port, chunk);
        if (variation.watchInputs()) {
            watched.add(Witness.of(batch.retain()));
        }
        process.accept(instance, batch);
    }

    private Batch batch(int port, List<Event.Input> chunk) {
        List<Row> rows = chunk.stream().map(Event.Input::row).toList();
        long[] weights = chunk.stream().mapToLong(Event.Input::weight).toArray();
        boolean weighted = variation.explicitWeights() && random.nextBoolean();
        for (long weight : weights) {
            weighted |= weight != 1;
        }
        Schema schema = inputs.get(port);
        return weighted ? TestBatches.weighted(schema, root, rows, weights) : TestBatches.of(schema, root, rows);
    }

    private void releaseInputs() {
        Witness.release(watched, "an input batch");
        if (root.getAllocatedMemory() != 0) {
            throw new AssertionError(root.getAllocatedMemory() + " bytes of input batches were never given back");
        }
    }
}
