package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.Rows;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/**
 * Aggregates per key and session ({@link KeySessions}); FINAL has sessions that {@link PartialSessionsOperator} made as rows.
 *
 * <p>A row by itself is a session that ends a gap after it, so it is late when it is a gap behind the watermark. A row that
 * is not may still join a session that ended up to a gap ago; therefore a session is emitted when the watermark is two
 * gaps past its last row. Emitting it with its end would make the answer depend on how rows and watermarks alternate.
 */
public final class SessionAggregateOperator implements Operator {
    private final WindowAggregate node;
    private final long gapMicros;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private SessionRows rows;
    private KeySessions sessions;
    private long watermark = NO_WATERMARK;
    private int due; // sessions that wait to be emitted
    private int emitted;

    public SessionAggregateOperator(WindowAggregate node) {
        if (!(node.window() instanceof WindowSpec.Session session) || node.phase() == Phase.PARTIAL) {
            throw new IllegalArgumentException("not a session aggregation that is complete: " + node);
        }
        this.node = node;
        this.gapMicros = session.gapMicros();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        rows = new SessionRows(context, gapMicros);
        sessions = owned.own(new KeySessions(node, context.allocator()));
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int time = node.timeColumn();
            if (node.phase() == Phase.FINAL) { // of rows that were not late
                int count = batch.rowCount();
                sessions.add(batch, Rows.all(count), count, batch.dataAddress(time), batch.dataAddress(time + 1));
            } else {
                int count = rows.select(batch, time, watermark);
                long times = batch.dataAddress(time);
                sessions.add(batch, rows.rows(), count, times, times);
            }
        }
        reportSize();
    }

    private void reportSize() {
        context.metrics().stateSize(sessions.bytes(), sessions.size());
    }

    // ---- windows

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        if (due == 0) {
            due = sessions.expire(watermarkMicros);
            sortByEnd();
        }
        long[] ended = sessions.due();
        while (emitted < due) {
            if (output.isFull()) {
                return false;
            }
            int count = Math.min(context.batchRows(), due - emitted);
            output.emit(batch(Arrays.copyOfRange(ended, emitted, emitted + count), count));
            emitted += count;
        }
        sessions.removeDue(due);
        due = 0;
        emitted = 0;
        reportSize();
        return true;
    }

    /** In one long each: when it ended since the first of them, as exactly as there is room for, and its place. */
    private void sortByEnd() {
        long[] ended = sessions.due();
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (int i = 0; i < due; i++) {
            first = Math.min(first, sessions.last(ended[i]));
            last = Math.max(last, sessions.last(ended[i]));
        }
        int placeBits = Integer.SIZE - Integer.numberOfLeadingZeros(due);
        int dropped = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(last - first) + placeBits - (Long.SIZE - 1));
        long[] sorted = new long[due];
        for (int i = 0; i < due; i++) {
            sorted[i] = sessions.last(ended[i]) - first >>> dropped << placeBits | i;
        }
        Arrays.sort(sorted);
        for (int i = 0; i < due; i++) {
            sorted[i] = ended[(int) (sorted[i] & (1L << placeBits) - 1)];
        }
        System.arraycopy(sorted, 0, ended, 0, due);
    }

    private Batch batch(long[] entries, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        Schema schema = node.schema();
        try {
            for (int key = 0; key < node.keys().size(); key++) {
                vectors.add(sessions.state().key(key, schema.field(key), entries, count));
            }
            for (int call = 0; call < node.calls().size(); call++) {
                vectors.add(sessions.state().call(call, schema.field(vectors.size()), entries, count));
            }
            vectors.add(TimeColumns.words(
                    schema.field(vectors.size()), entries, sessions.startOffset(), 0, count, context.allocator()));
            vectors.add(TimeColumns.words(
                    schema.field(vectors.size()),
                    entries,
                    sessions.lastOffset(),
                    gapMicros,
                    count,
                    context.allocator()));
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), count);
        } catch (RuntimeException e) {
            Closing.all(vectors);
            throw named(e, entries, count);
        } catch (Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** A failure of some sessions' results: they are told once and taken back never, so it is the query's. */
    private RuntimeException named(RuntimeException failure, long[] entries, int count) {
        Schema schema = node.schema();
        Field end = schema.field(schema.size() - 1);
        return sessions.state().named(failure, schema, entries, count, session -> {
            long micros = sessions.last(session) + gapMicros;
            return "session to " + TimeColumns.text(end, micros, context.allocator());
        });
    }

    // ---- snapshots

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        writer.keyGroup(StateFormats.SESSIONS, -1).writeLong(watermark);
        sessions.snapshot(writer);
    }

    @Override
    public void restore(StateReader reader) {
        sessions.restore(reader, saved -> watermark = Math.max(watermark, saved));
        reportSize();
    }

    @Override
    public void close() {
        owned.close();
    }
}
