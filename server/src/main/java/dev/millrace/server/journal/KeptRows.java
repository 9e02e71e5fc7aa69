package dev.millrace.server.journal;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.batch.BatchBytes;
import dev.millrace.storage.log.LogPlace;
import dev.millrace.storage.log.RecordConsumer;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.type.Schema;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;

/** What the log has of tables when a database is opened. For the thread that opens it. */
public final class KeptRows {
    private static final int FEW = 4;
    private static final int OFFSET_BITS = 32; // of a place in a segment, which has at most 1 GB

    private final Optional<WriteAheadLog> log;
    private final Map<Long, Kept> byNumber = new HashMap<>();
    private final Map<Long, LogPlace> batches = new HashMap<>(); // that are records of their own
    private long greatest;
    private long bytes;

    /** Which records have something of one table, and how far its counters were in the last. */
    private static final class Kept {
        long[] records = new long[FEW];
        long[] places = new long[FEW];
        int count;
        Map<String, Long> counters = Map.of();

        /** All that is needed from here on: a record that has all rows, and those behind the one as of which it has them. */
        void whole(long record, LogPlace place, long asOf) {
            int from = 0;
            while (from < count && records[from] <= asOf) {
                from++;
            }
            int later = count - from;
            long[] laterRecords = Arrays.copyOfRange(records, from, count);
            long[] laterPlaces = Arrays.copyOfRange(places, from, count);
            count = 0;
            add(record, place);
            for (int i = 0; i < later; i++) {
                add(laterRecords[i], laterPlaces[i]);
            }
        }

        void add(long record, LogPlace place) {
            if (count == 0 || records[count - 1] != record) { // else it has several parts of one table
                add(record, place.segment() << OFFSET_BITS | place.offset());
            }
        }

        private void add(long record, long place) {
            if (count == records.length) {
                records = Arrays.copyOf(records, 2 * count);
                places = Arrays.copyOf(places, 2 * count);
            }
            records[count] = record;
            places[count++] = place;
        }

        LogPlace place(int index) {
            return new LogPlace(places[index] >>> OFFSET_BITS, places[index] & (1L << OFFSET_BITS) - 1);
        }
    }

    /** What is done with one part of an entry. */
    interface Part {
        void take(long relation, long asOf, Map<String, Long> counters, List<ByteBuffer> batches);
    }

    private KeptRows(Optional<WriteAheadLog> log) {
        this.log = log;
    }

    static KeptRows none() {
        return new KeptRows(Optional.empty());
    }

    /** Looks through a log. */
    static KeptRows of(WriteAheadLog log) {
        KeptRows kept = new KeptRows(Optional.of(log));
        log.replay(log.forgotten(), new RecordConsumer() {
            @Override
            public void accept(long number, ByteBuffer bytes) {
                throw new IllegalStateException("its place is wanted, too");
            }

            @Override
            public void accept(long number, LogPlace place, ByteBuffer bytes) {
                kept.look(number, place, bytes);
            }
        });
        return kept;
    }

    private void look(long number, LogPlace place, ByteBuffer record) {
        bytes += record.remaining();
        if (record.hasRemaining() && record.get(record.position()) == EntryWriter.BATCH) {
            batches.put(number, place);
            return;
        }
        parts(number, record, other -> ByteBuffer.allocate(0), (relation, asOf, counters, parts) -> {
            Kept of = byNumber.computeIfAbsent(relation, unknown -> new Kept());
            if (asOf > 0) {
                of.whole(number, place, asOf);
            } else {
                of.add(number, place);
            }
            of.counters = counters;
            greatest = Math.max(greatest, relation);
        });
    }

    /** Bytes of the records that there were. */
    long bytes() {
        return bytes;
    }

    /** The greatest number that anything in the log is of. */
    public long greatest() {
        return greatest;
    }

    /** How many entries there are of rows of a number. */
    public int entries(long number) {
        return Optional.ofNullable(byNumber.get(number)).map(kept -> kept.count).orElse(0);
    }

    /** How far the counters of a table were, by its columns. */
    public Map<String, Long> counters(long number) {
        return Optional.ofNullable(byNumber.get(number))
                .map(kept -> kept.counters)
                .orElse(Map.of());
    }

    /**
     * Reads the changes of rows of a number, in their order.
     *
     * @param schema of the table
     * @param taker is given each batch, which it owns
     * @throws MillraceException XX001 if something of them is damaged
     */
    public void read(long number, Schema schema, BufferAllocator allocator, Consumer<Batch> taker) {
        Kept kept = byNumber.get(number);
        if (kept == null) {
            return;
        }
        WriteAheadLog from = log.orElseThrow();
        for (int i = 0; i < kept.count; i++) {
            long record = kept.records[i];
            Elsewhere elsewhere = other -> batchRecord(other, from);
            parts(record, from.read(kept.place(i)), elsewhere, (relation, asOf, counters, parts) -> {
                if (relation == number) {
                    parts.forEach(bytes -> taker.accept(BatchBytes.read(bytes, schema, allocator)));
                }
            });
        }
    }

    /** All is read that is needed. */
    void forget() {
        byNumber.clear();
        batches.clear();
    }

    interface Elsewhere {
        ByteBuffer read(long record);
    }

    private ByteBuffer batchRecord(long record, WriteAheadLog from) {
        LogPlace place = batches.get(record);
        if (place == null) {
            throw damaged(record, "is not there");
        }
        ByteBuffer bytes = from.read(place);
        if (!bytes.hasRemaining() || bytes.get() != EntryWriter.BATCH) {
            throw damaged(record, "is no batch");
        }
        return bytes;
    }

    /** Takes an entry apart; nothing of a batch that is a record of its own. */
    static void parts(long record, ByteBuffer bytes, Elsewhere elsewhere, Part part) {
        try {
            ByteBuffer in = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
            byte kind = in.get();
            if (kind == EntryWriter.BATCH) {
                return;
            }
            if (kind != EntryWriter.ENTRY) {
                throw damaged(record, "is of kind " + kind);
            }
            for (int parts = in.getInt(); parts > 0; parts--) {
                long relation = in.getLong();
                long asOf = in.getLong();
                Map<String, Long> counters = new TreeMap<>();
                for (int count = in.getInt(); count > 0; count--) {
                    String column =
                            StandardCharsets.UTF_8.decode(take(in, in.getInt())).toString();
                    counters.put(column, in.getLong());
                }
                int count = in.getInt();
                ByteBuffer[] batches = new ByteBuffer[Math.min(count, in.remaining() / Integer.BYTES)];
                for (int batch = 0; batch < count; batch++) {
                    int length = in.getInt();
                    batches[batch] = length == EntryWriter.ELSEWHERE ? elsewhere.read(in.getLong()) : take(in, length);
                }
                part.take(relation, asOf, counters, List.of(batches));
            }
            if (in.hasRemaining()) {
                throw damaged(record, "has " + in.remaining() + " bytes too many");
            }
        } catch (BufferUnderflowException | IndexOutOfBoundsException | NegativeArraySizeException e) {
            throw damaged(record, "ends too early");
        }
    }

    private static ByteBuffer take(ByteBuffer in, int length) {
        if (length < 0 || length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer taken = in.slice(in.position(), length);
        in.position(in.position() + length);
        return taken;
    }

    private static MillraceException damaged(long record, String how) {
        return MillraceException.external(SqlState.DATA_CORRUPTED, "record " + record + " of the log of rows " + how);
    }
}
