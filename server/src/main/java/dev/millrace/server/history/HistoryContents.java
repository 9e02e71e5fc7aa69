package dev.millrace.server.history;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.batch.BatchBytes;
import dev.millrace.type.Schema;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the log of a history has when it is opened. For one thread. */
final class HistoryContents {
    /**
     * What changes add up to from.
     *
     * @param types hash of those of the columns
     * @param rows the answer
     * @param reachMicros all later changes are in the log
     */
    record Base(String query, int types, long micros, long reachMicros, List<ByteBuffer> rows, long firstRecord) {}

    private final String path;
    private final List<ByteBuffer> rows = new ArrayList<>(); // that nothing counted yet
    private final List<Long> rowRecords = new ArrayList<>();
    private final List<KeptEpoch> epochs = new ArrayList<>();
    private final Map<String, NamedSubscription> subscriptions = new LinkedHashMap<>();
    private Optional<Base> base = Optional.empty();
    private long toldMicros;

    /** @param path how errors name the log */
    HistoryContents(String path) {
        this.path = path;
    }

    Optional<Base> base() {
        return base;
    }

    /** The newest; XX001 if there is none, for the log of a history always has one. */
    Base requireBase() {
        return base.orElseThrow(() -> MillraceException.external(
                SqlState.DATA_CORRUPTED, "the log " + path + " is damaged: it says nowhere what it is of"));
    }

    /** In the order of their times. */
    List<KeptEpoch> epochs() {
        return epochs;
    }

    Map<String, NamedSubscription> subscriptions() {
        return subscriptions;
    }

    /** No later time was told to anybody. */
    long toldMicros() {
        return toldMicros;
    }

    void accept(long number, ByteBuffer bytes) {
        ByteBuffer in = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        try {
            switch (in.get()) {
                case HistoryRecords.ROWS -> {
                    rows.add(ByteBuffer.allocate(in.remaining()).put(in).flip());
                    rowRecords.add(number);
                }
                case HistoryRecords.EPOCH -> epoch(number, in);
                case HistoryRecords.BASE -> base(number, in);
                case HistoryRecords.TOLD -> toldMicros = in.getLong();
                case HistoryRecords.SUBSCRIPTION -> subscription(in);
                case HistoryRecords.DROPPED -> subscriptions.remove(text(in));
                default -> throw damaged(number);
            }
        } catch (BufferUnderflowException e) {
            throw damaged(number);
        }
    }

    private MillraceException damaged(long number) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED, "the log " + path + " is damaged: its record " + number + " does not hold");
    }

    private void epoch(long number, ByteBuffer in) {
        long micros = in.getLong();
        long first = rowRecords.isEmpty() ? number : rowRecords.get(rowRecords.size() - 1);
        int count = in.getInt();
        if (count < 0 || count > rows.size()) {
            if (base.isEmpty()) { // its rows were forgotten, and so is it
                clear();
                return;
            }
            throw damaged(number);
        }
        if (count > 0) {
            first = rowRecords.get(rows.size() - count);
        }
        List<ByteBuffer> batches = List.copyOf(rows.subList(rows.size() - count, rows.size()));
        epochs.add(HistoryRecords.kept(0, micros, batches, first));
        toldMicros = Math.max(toldMicros, micros);
        clear();
    }

    private void base(long number, ByteBuffer in) {
        byte format = in.get();
        if (format != HistoryRecords.FORMAT) {
            throw MillraceException.external(
                    SqlState.CONFIG_FILE_ERROR, "the log " + path + " was written by a later version");
        }
        String query = text(in);
        int types = in.getInt();
        long micros = in.getLong();
        long reach = in.getLong();
        int count = in.getInt();
        if (count < 0 || count > rows.size()) {
            if (base.isEmpty()) { // its first rows were forgotten, as a newer one is behind it
                clear();
                return;
            }
            throw damaged(number);
        }
        long first = count == 0 ? number : rowRecords.get(rows.size() - count);
        base = Optional.of(new Base(
                query, types, micros, reach, List.copyOf(rows.subList(rows.size() - count, rows.size())), first));
        toldMicros = Math.max(toldMicros, micros);
        subscriptions.clear();
        for (int left = in.getInt(); left > 0; left--) {
            subscription(in);
        }
        epochs.removeIf(epoch -> epoch.micros() <= reach);
        clear();
    }

    private void clear() {
        rows.clear();
        rowRecords.clear();
    }

    private void subscription(ByteBuffer in) {
        String name = text(in);
        String owner = text(in);
        long limit = in.getLong();
        long acknowledged = in.getLong();
        String broken = text(in);
        subscriptions.put(
                name,
                new NamedSubscription(
                        name, owner, limit, acknowledged, Optional.of(broken).filter(why -> !why.isEmpty())));
    }

    private static String text(ByteBuffer in) {
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Whether columns are of the types that the changes here have. */
    boolean fits(Schema schema) {
        return base.filter(of -> of.types() == BatchBytes.hash(schema)).isPresent();
    }
}
