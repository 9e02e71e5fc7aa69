package dev.millrace.connectors.kafka;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.connector.EventTime;
import dev.millrace.connector.Part;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.record.RecordMemory;
import dev.millrace.connectors.split.SplitTimes;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Makes batches of what was fetched of some partitions: of each in its order, by turns. Records are copied once, to memory of ours, and
 * decoded there. Never waits for the brokers. Owned by one thread at a time, but for what the fetcher adds.
 */
final class KafkaReader implements SourceReader, DecoderContext {
    private static final long RETRY_MICROS = 100_000; // the fetcher wakes readers; this is for idle partitions
    private static final int SHOWN_BYTES = 300;
    private static final long BATCH_BYTES = 2 << 20;

    private final KafkaFetcher fetcher;
    private final SourceContext context;
    private final SplitTimes times;
    private final boolean bounded;
    private final String topics;
    private final Schema schema;
    private final RecordColumns meta;
    private final List<Integer> columns; // of the relation
    private final int mostRecords; // of a batch
    private final int payload; // how many columns the format has; those behind it are of the record
    private final Optional<EventTime> eventTime;
    private final int[] timePlaces; // of its columns, in the batch
    private final RecordDecoder decoder;
    private final RecordMemory memory;
    private final List<FetchedPartition> partitions = new CopyOnWriteArrayList<>(); // the fetcher adds
    private int turn;
    private Part part = Part.WHOLE;
    private boolean closed;

    // What is being decoded: again and again, while the decoder waits for something.
    private Optional<FetchedPartition> decoding = Optional.empty();
    private int done; // records of the first that waits
    private int until; // of those
    private int[] recordOf = new int[64]; // of each record in memory, which of the fetched

    KafkaReader(
            KafkaSource source, KafkaFetcher fetcher, ScanRequest request, SourceContext context, SplitTimes times) {
        this.fetcher = fetcher;
        this.context = context;
        this.times = times;
        this.bounded = source.bounded();
        this.topics = source.topics().toString();
        this.columns = request.columns();
        this.schema = source.schema().select(columns);
        this.payload = source.format().schema().size();
        this.mostRecords = Math.min(context.batchRows(), source.format().mostRecords());
        this.meta = source.columns();
        Optional<EventTime> time = request.eventTime().filter(wanted -> columns.containsAll(wanted.columns()));
        this.eventTime = time;
        this.timePlaces = time.map(wanted ->
                        wanted.columns().stream().mapToInt(columns::indexOf).toArray())
                .orElse(new int[0]);
        this.memory = new RecordMemory(context.allocator());
        this.decoder = decoder(source);
    }

    private RecordDecoder decoder(KafkaSource source) {
        try {
            return source.format()
                    .decoder(columns.stream().filter(column -> column < payload).toList(), this);
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
    }

    /** The fetcher's, also while the reader works. */
    void add(FetchedPartition partition) {
        partitions.add(partition);
    }

    /** What was fetched and not decoded. Any thread. */
    long waitingBytes() {
        return partitions.stream().mapToLong(FetchedPartition::waitingBytes).sum();
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
        context.report(new RejectedRecord(
                decoding.map(KafkaReader::origin).orElse(""), 0, "", text, SqlState.DATA_EXCEPTION, ""));
    }

    @Override
    public void reject(int record, String column, MillraceException reason) {
        FetchedPartition of = decoding.orElseThrow();
        ConsumerRecord<ByteBuffer, ByteBuffer> fetched =
                of.peek().orElseThrow().records().get(recordOf[record]);
        reject(of, fetched, column, reason);
    }

    private void reject(
            FetchedPartition of, ConsumerRecord<ByteBuffer, ByteBuffer> record, String column, MillraceException why) {
        context.reject(new RejectedRecord(
                origin(of), record.offset(), column, why.getMessage(), why.sqlState(), shown(record.value())));
    }

    private static String origin(FetchedPartition of) {
        return of.partition.topic() + "/" + of.partition.partition();
    }

    private static String shown(@Nullable ByteBuffer value) {
        if (value == null) {
            return "";
        }
        byte[] bytes = new byte[Math.min(SHOWN_BYTES, value.remaining())];
        value.duplicate().get(bytes);
        String text = new String(bytes, StandardCharsets.UTF_8).replaceAll("[\\p{Cntrl}&&[^\\t]]", "\ufffd");
        return value.remaining() > SHOWN_BYTES ? text + "..." : text;
    }

    // ---- batches
    // -----------------------------------------------------------------------------------------------------

    @Override
    public Optional<Batch> poll() {
        if (decoding.isEmpty() && !load()) {
            return idle();
        }
        Optional<DecodedRows> decoded = decoder.decode(memory.records());
        if (decoded.isEmpty()) {
            return Optional.empty();
        }
        FetchedPartition of = decoding.orElseThrow();
        Batch batch = batch(of, decoded.get());
        try {
            told(of, batch);
        } catch (RuntimeException | Error e) {
            batch.close();
            throw e;
        }
        return Optional.of(batch);
    }

    /** The rows are the caller's: the records need not be seen again. */
    private void told(FetchedPartition of, Batch batch) {
        long now = context.clock().nanoTime();
        if (eventTime.isPresent()) {
            part = times.part(of.time, now);
            times.rows(of.time, latest(batch), now);
        }
        List<ConsumerRecord<ByteBuffer, ByteBuffer>> records =
                of.peek().orElseThrow().records();
        ConsumerRecord<ByteBuffer, ByteBuffer> last = records.get(until - 1);
        of.read(last.offset() + 1, until - done, last.timestamp(), now);
        done = until;
        if (done == records.size()) {
            of.taken();
            done = 0;
            fetcher.madeRoomIn(of);
        }
        decoding = Optional.empty();
    }

    private OptionalLong latest(Batch batch) {
        EventTime time = eventTime.orElseThrow();
        FieldVector[] vectors = new FieldVector[timePlaces.length];
        for (int i = 0; i < vectors.length; i++) {
            vectors[i] = batch.column(timePlaces[i]);
        }
        Schema ofTime = schema.select(Arrays.stream(timePlaces).boxed().toList());
        try (Batch view = Batch.view(ofTime, vectors, batch.rowCount(), Optional.empty(), List.of(batch.retain()))) {
            return time.latest().apply(view);
        }
    }

    /** Copies the next records of the next partition that has some; false if none has. */
    private boolean load() {
        for (int tried = 0; tried < partitions.size(); tried++) {
            // The one that was read in part goes on; else by turns.
            int at = done > 0 ? turn : Math.floorMod(turn + 1 + tried, partitions.size());
            FetchedPartition of = partitions.get(at);
            Optional<FetchedPartition.Fetched> fetched = of.peek();
            if (fetched.isPresent()) {
                turn = at;
                copy(of, fetched.get().records());
                decoding = Optional.of(of);
                return true;
            }
        }
        return false;
    }

    private void copy(FetchedPartition of, List<ConsumerRecord<ByteBuffer, ByteBuffer>> records) {
        memory.clear();
        int most = Math.min(records.size() - done, mostRecords);
        if (recordOf.length < most) {
            recordOf = new int[most];
        }
        until = done;
        while (until < done + most && memory.bytes() < BATCH_BYTES) {
            ConsumerRecord<ByteBuffer, ByteBuffer> record = records.get(until);
            Optional<MillraceException> refused = meta.refusal(record);
            if (refused.isPresent()) {
                until++; // before it is told, which may end the scan
                reject(of, record, meta.refusedColumn(), refused.get());
                continue;
            }
            recordOf[memory.records().count()] = until++;
            memory.add(record.key(), record.value(), record.offset());
        }
        memory.finish();
    }

    private Batch batch(FetchedPartition of, DecodedRows rows) {
        FieldVector[] vectors = new FieldVector[columns.size()];
        try {
            int next = 0;
            for (int i = 0; i < vectors.length; i++) {
                if (columns.get(i) < payload) {
                    vectors[i] = rows.columns().get(next++);
                }
            }
            if (rows.weights().isPresent()) {
                throw MillraceException.notAvailableYet("a format of changes in a stream");
            }
            List<ConsumerRecord<ByteBuffer, ByteBuffer>> records =
                    of.peek().orElseThrow().records();
            for (int i = 0; i < vectors.length; i++) {
                if (columns.get(i) >= payload) {
                    vectors[i] = meta.vector(
                            columns.get(i) - payload,
                            rows.rows(),
                            row -> records.get(recordOf[rows.record(row)]),
                            context.allocator());
                }
            }
            return Batch.of(schema, vectors, rows.rows());
        } catch (RuntimeException | Error e) {
            List<FieldVector> made = new ArrayList<>(rows.columns());
            for (int i = 0; i < vectors.length; i++) {
                if (columns.get(i) >= payload && vectors[i] != null) {
                    made.add(vectors[i]);
                }
            }
            Closing.all(made);
            throw e;
        }
    }

    /** No records: a batch of no rows if event time went on without them, else nothing. */
    private Optional<Batch> idle() {
        if (eventTime.isEmpty() || isFinished()) {
            return Optional.empty();
        }
        Part now = times.idlePart(context.clock().nanoTime());
        if (now.equals(part) || now.firstMicros() == Part.UNKNOWN) {
            return Optional.empty();
        }
        part = now;
        FieldVector[] none = new FieldVector[columns.size()];
        List<FieldVector> made = new ArrayList<>();
        try {
            for (int i = 0; i < none.length; i++) {
                none[i] = Vectors.allocate(schema.field(i), 0, 0, context.allocator());
                made.add(none[i]);
                Vectors.finish(none[i], 0);
            }
            return Optional.of(Batch.of(schema, none, 0));
        } catch (RuntimeException | Error e) {
            Closing.all(made);
            throw e;
        }
    }

    @Override
    public boolean isFinished() {
        if (!bounded || !fetcher.isFound() || decoding.isPresent()) {
            return false;
        }
        for (FetchedPartition each : partitions) {
            if (!each.isRead()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public long retryAfterMicros() {
        return RETRY_MICROS;
    }

    @Override
    public Part part() {
        return part;
    }

    @Override
    public Optional<SourcePosition> position() {
        return Optional.of(new KafkaPosition(
                        fetcher.isFound(),
                        partitions.stream()
                                .map(each -> each.place(times.latest(each.time)))
                                .toList())
                .written());
    }

    @Override
    public List<SplitStatus> splits() {
        long now = context.clock().epochMicros();
        long nanos = context.clock().nanoTime();
        Optional<String> waits = fetcher.waitsFor().or(decoder::waitsFor);
        List<SplitStatus> all = new ArrayList<>();
        partitions.forEach(each -> all.add(each.status(now, nanos, fetcher.retries(), fetcher.lastError(), waits)));
        if (!fetcher.isFound() && fetcher.isFirst(this)) { // nothing is known of partitions, but why
            all.add(new SplitStatus(
                    topics,
                    "",
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    0,
                    0,
                    fetcher.retries(),
                    fetcher.lastError(),
                    waits));
        }
        return all;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try (memory) {
                decoder.close();
            } finally {
                fetcher.readerClosed();
            }
        }
    }
}
