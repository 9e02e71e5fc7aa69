package dev.millrace.connectors.push;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.record.RecordMemory;
import dev.millrace.connectors.split.RecentRate;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Makes batches of what waits in an inbox, and tells whoever brought it when it is kept. Owned by one thread, the stream's; the transport's
 * threads only know the inbox.
 */
public final class RecordReceiver implements PushedReader, DecoderContext {
    private static final long RETRY_MICROS = 500_000; // who brings something wakes the thread
    private static final int SHOWN_BYTES = 300;
    private static final int BATCH_BYTES = 2 << 20;

    /** What brings deliveries. */
    public interface Transport extends AutoCloseable {
        /** All streams are there: peers may be spoken to. Called once, before the first delivery is taken; does not wait for peers. */
        default void begin() {}

        /** One name for all it receives. */
        String target();

        /** How far it is with its peers, for users. Any thread. */
        default String position() {
            return "";
        }

        /** What went wrong last, without secrets. Any thread. */
        default Optional<String> lastError() {
            return Optional.empty();
        }

        /** What it cannot receive without. Any thread. */
        default Optional<String> waitsFor() {
            return Optional.empty();
        }

        /** Tries since all was well. Any thread. */
        default long retries() {
            return 0;
        }

        /** How it is with each that brings records, where they are told apart. Any thread. */
        default List<SplitStatus> peers() {
            return List.of();
        }

        /** The stream was dropped, and this is about to be closed. */
        default void dropped() {}

        @Override
        void close();
    }

    private final SourceContext context;
    private final PushedRecords records;
    private final Schema schema;
    private final ArrivalQueue inbox;
    private final Transport transport;
    private final RecordDecoder decoder;
    private final RecordMemory memory;
    private boolean begun;
    private boolean closed;

    // What is being decoded, again and again while the decoder waits for something.
    private final List<Consignment> decoding = new ArrayList<>();
    private int[] deliveryOf = new int[64]; // of each record in memory
    private final Map<Consignment, Integer> rejectedOf = new HashMap<>(); // records, where there are any
    private long position; // of records, since it was opened

    // What the stream was given.
    private final Deque<Given> given = new ArrayDeque<>(); // and is not known to have kept
    private long acknowledged; // batches
    private MemoryChange remembered = MemoryChange.NONE;

    @GuardedBy("rate") private final RecentRate rate;

    @GuardedBy("rate") private long total;

    private record Given(List<Consignment> deliveries, Map<Consignment, Integer> rejected) {}

    /** @param transport is closed with this, also if this cannot be made */
    public RecordReceiver(PushedRecords records, SourceContext context, ArrivalQueue inbox, Transport transport) {
        this.records = records;
        this.context = context;
        this.inbox = inbox;
        this.transport = transport;
        this.schema = records.schema();
        this.rate = new RecentRate(context.clock().nanoTime());
        this.memory = new RecordMemory(context.allocator());
        try {
            this.decoder = records.format()
                    .decoder(
                            IntStream.range(0, records.format().schema().size())
                                    .boxed()
                                    .toList(),
                            this);
        } catch (RuntimeException | Error e) {
            Closing.all(List.of(memory, transport));
            throw e;
        }
        inbox.onArrival(context::wakeUp);
    }

    // ---- what the decoder asks
    // ---------------------------------------------------------------------------------------

    @Override
    public BufferAllocator allocator() {
        return context.allocator();
    }

    @Override
    public Clock clock() {
        return context.clock();
    }

    @Override
    public void wakeUp() {
        context.wakeUp();
    }

    @Override
    public void note(String text) {
        context.report(new RejectedRecord(transport.target(), 0, "", text, SqlState.DATA_EXCEPTION, ""));
    }

    @Override
    public void reject(int record, String column, MillraceException reason) {
        Consignment of = decoding.get(deliveryOf[record]);
        rejectedOf.merge(of, 1, Integer::sum);
        int first = record;
        while (first > 0 && deliveryOf[first - 1] == deliveryOf[record]) {
            first--;
        }
        byte[] value = of.values().get(record - first);
        context.reject(new RejectedRecord(
                of.origin(),
                position + record + 1,
                column,
                String.valueOf(reason.getMessage()),
                reason.sqlState(),
                shown(value)));
    }

    private static String shown(byte[] value) {
        String text = new String(value, 0, Math.min(SHOWN_BYTES, value.length), StandardCharsets.UTF_8)
                .replaceAll("[\\p{Cntrl}&&[^\\t]]", "\ufffd");
        return value.length > SHOWN_BYTES ? text + "..." : text;
    }

    // ---- batches
    // -----------------------------------------------------------------------------------------------------

    @Override
    public Optional<Batch> poll() {
        if (!begun) {
            begun = true;
            transport.begin();
        }
        if (decoding.isEmpty() && !load()) {
            return Optional.empty();
        }
        rejectedOf.clear();
        Optional<DecodedRows> decoded = decoder.decode(memory.records());
        if (decoded.isEmpty()) {
            return Optional.empty();
        }
        Batch batch = batch(decoded.get());
        int count = memory.records().count();
        position += count;
        synchronized (rate) {
            total += count;
            rate.add(count, context.clock().nanoTime());
        }
        remembered = rememberedOf(decoding);
        given.add(new Given(List.copyOf(decoding), Map.copyOf(rejectedOf)));
        decoding.clear();
        return Optional.of(batch);
    }

    /** Copies what waits, as much as one batch is to have; false if nothing does. */
    private boolean load() {
        memory.clear();
        while (memory.records().count() < context.batchRows() && memory.bytes() < BATCH_BYTES) {
            Optional<Consignment> next = inbox.take();
            if (next.isEmpty()) {
                break;
            }
            Consignment delivery = next.get();
            for (byte[] value : delivery.values()) {
                int record = memory.records().count();
                if (record == deliveryOf.length) {
                    deliveryOf = Arrays.copyOf(deliveryOf, 2 * record);
                }
                deliveryOf[record] = decoding.size();
                memory.add(null, ByteBuffer.wrap(value), position + record + 1);
            }
            decoding.add(delivery);
        }
        memory.finish();
        return !decoding.isEmpty();
    }

    /** All that these change, the later over the earlier. */
    private static MemoryChange rememberedOf(List<Consignment> deliveries) {
        Map<String, byte[]> put = new HashMap<>();
        Set<String> removed = new HashSet<>();
        for (Consignment delivery : deliveries) {
            MemoryChange change = delivery.remembered();
            if (!change.isEmpty()) {
                removed.addAll(change.removed());
                put.keySet().removeAll(change.removed());
                put.putAll(change.put());
            }
        }
        return put.isEmpty() && removed.isEmpty() ? MemoryChange.NONE : new MemoryChange(put, removed);
    }

    private Batch batch(DecodedRows rows) {
        List<FieldVector> made = new ArrayList<>(rows.columns());
        try {
            if (rows.weights().isPresent()) {
                throw MillraceException.notAvailableYet("a format of changes in a stream");
            }
            for (MetaColumn column : records.meta()) {
                made.add(column.vector(
                        rows.rows(),
                        row -> decoding.get(deliveryOf[rows.record(row)]).about(),
                        context.allocator()));
            }
            return Batch.of(schema, made.toArray(FieldVector[]::new), rows.rows());
        } catch (RuntimeException | Error e) {
            Closing.all(made);
            throw e;
        }
    }

    @Override
    public MemoryChange remembered() {
        return remembered;
    }

    @Override
    public void acknowledge(long batches) {
        while (acknowledged < batches) {
            Given kept = given.remove();
            acknowledged++;
            for (Consignment delivery : kept.deliveries()) {
                delivery.receipt().kept(kept.rejected().getOrDefault(delivery, 0));
            }
        }
    }

    @Override
    public void dropped() {
        given.forEach(batch -> batch.deliveries().forEach(each -> each.receipt().dropped()));
        decoding.forEach(each -> each.receipt().dropped());
        inbox.drop();
        transport.dropped();
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public long retryAfterMicros() {
        return RETRY_MICROS;
    }

    @Override
    public List<SplitStatus> splits() {
        long all;
        double perSecond;
        synchronized (rate) {
            all = total;
            perSecond = rate.perSecond(context.clock().nanoTime());
        }
        List<SplitStatus> splits = new ArrayList<>();
        splits.add(new SplitStatus(
                transport.target(),
                transport.position(),
                OptionalLong.of(inbox.waitingRecords()),
                OptionalLong.empty(),
                all,
                perSecond,
                transport.retries(),
                transport.lastError(),
                decoder.waitsFor().or(transport::waitsFor),
                inbox.shed()));
        splits.addAll(transport.peers());
        return splits;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            inbox.close();
            Closing.all(List.of(transport, decoder, memory));
        }
    }
}
