package dev.millrace.benchmarks.suite;

import dev.millrace.batch.Batch;
import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.nexmark.NexmarkSourceFactory;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;

/** NEXMark's generator by itself, without an engine behind it. */
final class Generation {
    private record Context(BufferAllocator allocator, int batchRows) implements SourceContext {
        @Override
        public Clock clock() {
            return Clock.system();
        }

        @Override
        public void wakeUp() {}

        @Override
        public void reject(RejectedRecord record) {
            throw new IllegalStateException(record.reason());
        }
    }

    private static final Set<String> TABLES = Set.of("person", "auction", "bid");

    private final BufferAllocator allocator;
    private final int batchRows;
    private final long events;
    private final long rate;

    Generation(BufferAllocator allocator, int batchRows, long events, long rate) {
        this.allocator = allocator;
        this.batchRows = batchRows;
        this.events = events;
        this.rate = rate;
    }

    private Source source(String table) {
        Map<String, String> options =
                Map.of("table", table, "events", Long.toString(events), "rate", Long.toString(rate));
        return new NexmarkSourceFactory().create(new Schema(List.of()), new Options(options));
    }

    private void read(Source source, List<Integer> columns, Consumer<Batch> consumer) {
        ScanRequest request = new ScanRequest(columns, List.of(), 1);
        try (SourceReader reader =
                source.open(request, new Context(allocator, batchRows)).get(0)) {
            for (Optional<Batch> next = reader.poll(); next.isPresent(); next = reader.poll()) {
                try (Batch batch = next.get()) {
                    consumer.accept(batch);
                }
            }
        }
    }

    /** CPU seconds per million events that making the columns of a plan's scans takes, once the JIT is warm. */
    double cpuSecondsPerMillion(PlanNode plan) {
        Set<PlanNode.Scan> scans = new LinkedHashSet<>();
        collectScans(plan, scans);
        double cpuSeconds = 0;
        for (int round = 0; round < 2; round++) { // the first warms up
            ProcessClock.Reading start = ProcessClock.now();
            scans.stream()
                    .filter(scan -> TABLES.contains(scan.relation()))
                    .forEach(scan -> read(source(scan.relation()), scan.columns(), batch -> {}));
            cpuSeconds = (ProcessClock.now().cpuNanos() - start.cpuNanos()) / 1e9;
        }
        return cpuSeconds / events * 1e6;
    }

    private static void collectScans(PlanNode node, Set<PlanNode.Scan> scans) {
        if (node instanceof PlanNode.Scan scan) {
            scans.add(scan);
        }
        node.inputs().forEach(input -> collectScans(input, scans));
    }
}
