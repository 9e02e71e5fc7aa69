package dev.millrace.server.journal;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.log.LogPlace;
import dev.millrace.storage.log.RecordConsumer;
import dev.millrace.storage.log.WriteAheadLog;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** What the log has of rows when a database is opened. For the thread that opens it. */
public final class KeptRows {
    private final Optional<WriteAheadLog> log;
    private final Map<Long, LogPlace> batches = new HashMap<>(); // that are records of their own
    private final Map<Long, Whole> wholes = new TreeMap<>(); // by relation
    private final Map<Long, Long> lasts = new HashMap<>(); // of each relation the last record that has rows of it
    private long greatest;
    private long bytes;

    /** All rows of a relation, in the place of what the records up to {@code asOf} have of it. */
    private record Whole(long record, LogPlace place, long asOf) {}

    /**
     * What one relation accepted.
     *
     * @param relation the number of its rows
     * @param counters how far those of its columns were
     * @param batches as {@code BatchBytes} reads them
     * @param arrivedMicros when they came, since 1970; known of entries with rows of streams that keep them
     */
    public record Part(
            long relation, Map<String, Long> counters, List<ByteBuffer> batches, OptionalLong arrivedMicros) {}

    /** Takes what was accepted in one step. */
    @FunctionalInterface
    public interface Taker {
        /** @param number of the record; the parts' bytes are good until this returns */
        void accept(long number, List<Part> parts);
    }

    /** What is done with one part of an entry. */
    interface EachPart {
        void take(long asOf, Part part);
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
        log.replay(log.forgotten(), (Placed) kept::look);
        return kept;
    }

    /** Takes records of which it wants the place, too. */
    private interface Placed extends RecordConsumer {
        @Override
        default void accept(long number, ByteBuffer bytes) {
            throw new IllegalStateException("its place is wanted, too");
        }

        @Override
        void accept(long number, LogPlace place, ByteBuffer bytes);
    }

    private void look(long number, LogPlace place, ByteBuffer record) {
        bytes += record.remaining();
        if (record.hasRemaining() && record.get(record.position()) == EntryWriter.BATCH) {
            batches.put(number, place);
            return;
        }
        parts(number, record, other -> ByteBuffer.allocate(0), (asOf, part) -> {
            if (asOf > 0) {
                wholes.put(part.relation(), new Whole(number, place, asOf));
            }
            lasts.put(part.relation(), number);
            greatest = Math.max(greatest, part.relation());
        });
    }

    /** Bytes of the records that there were. */
    long bytes() {
        return bytes;
    }

    /** The last record that has rows of a relation; 0 if none has. On any thread. */
    public long last(long relation) {
        return lasts.getOrDefault(relation, 0L);
    }

    /** The greatest number that anything in the log is of. */
    public long greatest() {
        return greatest;
    }

    /**
     * Reads what was accepted behind a record, in its order.
     *
     * @param after a record whose effect, and that of all before it, is there already; 0 for none
     * @throws MillraceException XX001 if something of them is damaged or missing
     */
    public void replay(long after, Taker taker) {
        if (log.isEmpty()) {
            return;
        }
        WriteAheadLog from = log.get();
        if (from.forgotten() > after && (after > 0 || wholes.isEmpty())) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED,
                    "the log of rows begins behind record " + from.forgotten() + ", and "
                            + (after > 0
                                    ? "the checkpoint has what came up to record " + after
                                    : "there is no checkpoint"));
        }
        if (after > from.lastNumber()) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED,
                    "the log of rows ends with record " + from.lastNumber()
                            + ", and the checkpoint has what came up to record " + after);
        }
        Map<Long, Whole> first = after == 0 ? wholes : Map.of(); // they are of versions that had no checkpoints
        for (Whole whole : first.values()) {
            List<Part> all = new ArrayList<>();
            parts(
                    whole.record(),
                    from.read(whole.place()),
                    other -> batchRecord(other, from),
                    (asOf, part) -> all.add(part));
            taker.accept(1, all);
        }
        from.replay(Math.max(after, from.forgotten()), (Placed) (number, place, record) -> {
            if (record.get(record.position()) == EntryWriter.BATCH) {
                return;
            }
            List<Part> parts = new ArrayList<>();
            parts(number, record, other -> batchRecord(other, from), (asOf, part) -> {
                Whole whole = first.get(part.relation());
                if (asOf == 0 && (whole == null || whole.asOf() < number)) {
                    parts.add(part);
                }
            });
            taker.accept(number, parts);
        });
    }

    /** All is read that is needed. */
    void forget() {
        wholes.clear();
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
    static void parts(long record, ByteBuffer bytes, Elsewhere elsewhere, EachPart taker) {
        try {
            ByteBuffer in = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
            byte kind = in.get();
            if (kind == EntryWriter.BATCH) {
                return;
            }
            if (kind != EntryWriter.ENTRY && kind != EntryWriter.TIMED_ENTRY) {
                throw damaged(record, "is of kind " + kind);
            }
            OptionalLong arrived =
                    kind == EntryWriter.TIMED_ENTRY ? OptionalLong.of(in.getLong()) : OptionalLong.empty();
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
                taker.take(asOf, new Part(relation, counters, List.of(batches), arrived));
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
