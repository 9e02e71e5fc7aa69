package dev.millrace.server.journal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Makes one entry, of the form that the package describes. */
final class EntryWriter {
    static final byte ENTRY = 1;
    static final byte BATCH = 2;
    static final byte TIMED_ENTRY = 3;
    static final int ELSEWHERE = -1;

    private final List<ByteBuffer> pieces = new ArrayList<>();
    private int parts;
    private OptionalLong arrivedMicros = OptionalLong.empty();

    /** Says when its rows came, microseconds since 1970. */
    void arrived(long micros) {
        arrivedMicros = OptionalLong.of(micros);
    }

    /** Begins what was accepted by one relation. */
    void part(long relation, Map<String, Long> counters, int batches) {
        parts++;
        add(20).putLong(relation).putLong(0).putInt(counters.size()).flip();
        counters.forEach((column, value) -> {
            byte[] name = column.getBytes(StandardCharsets.UTF_8);
            add(name.length + 12).putInt(name.length).put(name).putLong(value).flip();
        });
        add(4).putInt(batches).flip();
    }

    /** Its next batch. */
    void batch(ByteBuffer bytes) {
        add(4).putInt(bytes.remaining()).flip();
        pieces.add(bytes);
    }

    /** Its next batch, which is a record of its own. */
    void batch(long number) {
        add(12).putInt(ELSEWHERE).putLong(number).flip();
    }

    private ByteBuffer add(int bytes) {
        ByteBuffer piece = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        pieces.add(piece);
        return piece;
    }

    ByteBuffer[] record() {
        ByteBuffer head = ByteBuffer.allocate(13).order(ByteOrder.LITTLE_ENDIAN);
        head.put(arrivedMicros.isPresent() ? TIMED_ENTRY : ENTRY);
        arrivedMicros.ifPresent(head::putLong);
        pieces.add(0, head.putInt(parts).flip());
        return pieces.toArray(ByteBuffer[]::new);
    }

    /** A record of one batch. */
    static ByteBuffer[] batchRecord(ByteBuffer bytes) {
        return new ByteBuffer[] {ByteBuffer.wrap(new byte[] {BATCH}), bytes};
    }
}
