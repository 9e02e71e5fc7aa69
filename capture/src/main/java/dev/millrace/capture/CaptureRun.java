package dev.millrace.capture;

import dev.millrace.connector.FedTable;
import dev.millrace.connector.RowChange;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SplitStatus;
import io.debezium.engine.DebeziumEngine.ChangeConsumer;
import io.debezium.engine.DebeziumEngine.RecordCommitter;
import io.debezium.engine.RecordChangeEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * What becomes of the records of one run: changes are gathered to the end of the transaction that made them, then applied together with the
 * position behind them, and only then acknowledged. Called by one thread of Debezium's at a time.
 *
 * <pre>
 *   read -> rows of the first reading, as they come: the first of them replace whatever is there
 *   begin, change, change, end -> one transaction          anything else: moves the position
 * </pre>
 */
final class CaptureRun implements ChangeConsumer<RecordChangeEvent<SourceRecord>> {
    /** Of one transaction; a larger one is seen in parts, as it would have to be held on the heap. */
    private static final int MOST_HELD = 50_000;

    private final FedTable table;
    private final String split;
    private final Upstream upstream;
    private final ChangeReading reading;
    private final RunState state;
    private final JsonConverter converter = new JsonConverter();
    private final List<RowChange> held = new ArrayList<>();
    private final List<RecordChangeEvent<SourceRecord>> unacknowledged = new ArrayList<>();
    private boolean isReading; // rows that there were before there was a log to follow
    private boolean inTransaction;
    private long records;
    private long lagMicros;
    private volatile long lastNanos; // at which something came; written by Debezium's thread, read by the feed's

    /** @param split for users */
    CaptureRun(FedTable table, String split, Upstream upstream, ChangeReading reading, RunState state) {
        this.table = table;
        this.split = split;
        this.upstream = upstream;
        this.reading = reading;
        this.state = state;
        this.lastNanos = table.clock().nanoTime();
        converter.configure(Map.of("schemas.enable", "false", "converter.type", "value"), false);
    }

    @Override
    public void handleBatch(
            List<RecordChangeEvent<SourceRecord>> batch, RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
            throws InterruptedException {
        lastNanos = table.clock().nanoTime();
        Optional<SourceRecord> last = Optional.empty();
        for (RecordChangeEvent<SourceRecord> event : batch) {
            SourceRecord record = event.record();
            unacknowledged.add(event);
            last = Optional.of(record);
            Optional<String> operation = ChangeReading.operation(record);
            if (operation.isPresent()) {
                change(operation.get(), record, committer);
            } else if (isEnd(record)) {
                inTransaction = false;
                apply(record, committer);
            }
        }
        if (last.isPresent() && (!inTransaction || held.size() > MOST_HELD)) {
            apply(last.get(), committer);
        }
        committer.markBatchFinished();
        tell(last);
    }

    /** Whether nothing has come for so long. Any thread. */
    boolean isSilentFor(long nanos) {
        return table.clock().nanoTime() - lastNanos > nanos;
    }

    private void change(
            String operation, SourceRecord record, RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
            throws InterruptedException {
        records++;
        noteTime(record);
        switch (operation) {
            case "r" -> {
                if (!isReading) {
                    isReading = true;
                    held.clear();
                    table.replace(List.of(reading.change(record, false)).iterator(), position(record));
                } else {
                    held.add(reading.change(record, false));
                }
            }
            case "t" -> {
                inTransaction = true;
                held.clear(); // whatever it was, it is gone
                table.replace(List.<RowChange>of().iterator(), position(record));
                acknowledge(committer);
            }
            case "c", "u", "d" -> {
                inTransaction = true;
                isReading = false;
                held.add(reading.change(record, operation.equals("d")));
            }
            default -> {
                // messages that programs write into the log are no rows
            }
        }
    }

    private static boolean isEnd(SourceRecord record) {
        return record.value() instanceof Struct transaction
                && transaction.schema().field("status") != null
                && "END".equals(transaction.getString("status"));
    }

    /** @param last the record that the position is behind */
    private void apply(SourceRecord last, RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
            throws InterruptedException {
        table.change(List.copyOf(held), position(last));
        held.clear();
        acknowledge(committer);
    }

    private void acknowledge(RecordCommitter<RecordChangeEvent<SourceRecord>> committer) throws InterruptedException {
        for (RecordChangeEvent<SourceRecord> event : unacknowledged) {
            committer.markProcessed(event);
        }
        unacknowledged.clear();
    }

    private Optional<SourcePosition> position(SourceRecord record) {
        Map<String, ?> offset = record.sourceOffset();
        byte[] json = converter.fromConnectData(record.topic(), null, offset);
        return Optional.of(new CapturedPosition(isWhole(offset), json, state.definitions()).toPosition());
    }

    /** Whether an offset is behind the first reading, as Debezium takes it when it begins with that. */
    static boolean isWhole(Map<String, ?> offset) {
        Object snapshot = offset.get("snapshot");
        return snapshot == null
                || Boolean.FALSE.equals(snapshot)
                || Boolean.TRUE.equals(offset.get("last_snapshot_record"))
                || Boolean.TRUE.equals(offset.get("snapshot_completed"));
    }

    private void noteTime(SourceRecord record) {
        Struct source = ((Struct) record.value()).getStruct("source");
        if (source.schema().field("ts_ms") != null && source.getInt64("ts_ms") != null) {
            lagMicros = Math.max(0, table.clock().epochMicros() - source.getInt64("ts_ms") * 1000);
        }
    }

    private void tell(Optional<SourceRecord> last) {
        if (last.isEmpty()) {
            return;
        }
        Map<String, Object> offset = new HashMap<>(last.get().sourceOffset());
        table.tell(new SplitStatus(
                split,
                upstream.text(offset),
                OptionalLong.empty(),
                records == 0 ? OptionalLong.empty() : OptionalLong.of(lagMicros),
                records,
                0,
                0,
                Optional.empty(),
                Optional.empty()));
    }

    @Override
    public boolean supportsTombstoneEvents() {
        return false;
    }
}
