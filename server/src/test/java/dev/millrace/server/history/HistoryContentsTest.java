package dev.millrace.server.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is read of a log of which segments were forgotten, and of which a process did not write the end. */
class HistoryContentsTest {
    private static final NamedSubscription SUBSCRIPTION = new NamedSubscription("s", "me", 1000, 5, Optional.empty());

    private final HistoryContents contents = new HistoryContents("here");
    private long number = 100;

    private static ByteBuffer batch(int rows) {
        return ByteBuffer.allocate(14).order(ByteOrder.LITTLE_ENDIAN).putInt(6, rows);
    }

    private void accept(ByteBuffer... parts) {
        ByteBuffer whole = ByteBuffer.allocate(1000);
        for (ByteBuffer part : parts) {
            whole.put(part.duplicate());
        }
        contents.accept(number++, whole.flip());
    }

    private void rows(int count) {
        for (int i = 0; i < count; i++) {
            accept(HistoryRecords.rows(batch(1)));
        }
    }

    private static ByteBuffer[] base(long micros, long reachMicros, int rows) {
        List<ByteBuffer> batches = Stream.generate(() -> batch(1)).limit(rows).toList();
        return HistoryRecords.base(
                new HistoryContents.Base("v", 7, micros, reachMicros, batches, 0), List.of(SUBSCRIPTION));
    }

    @Test
    void whatIsLeftOfOlderPartsIsPassedOver() {
        rows(1);
        accept(HistoryRecords.epoch(8, 3)); // two of its batches are gone
        rows(1);
        accept(base(10, 2, 4)); // three of its batches are gone
        rows(2);
        accept(HistoryRecords.epoch(20, 2));
        rows(1); // of what a process was writing as it ended
        rows(2);
        accept(base(30, 15, 2));
        rows(1);
        accept(HistoryRecords.epoch(40, 1));
        accept(HistoryRecords.told(50));
        HistoryContents.Base base = contents.requireBase();
        assertEquals(List.of(30L, 15L, 2L), List.of(base.micros(), base.reachMicros(), (long)
                base.rows().size()));
        assertEquals(108, base.firstRecord());
        assertEquals(
                List.of(20L, 40L),
                contents.epochs().stream().map(KeptEpoch::micros).toList());
        assertEquals(
                List.of(2L, 1L), contents.epochs().stream().map(KeptEpoch::rows).toList());
        assertEquals(50, contents.toldMicros());
        assertEquals(List.of(SUBSCRIPTION), List.copyOf(contents.subscriptions().values()));
    }

    @Test
    void whatIsMissingBehindABaseIsDamage() {
        accept(base(10, 2, 0));
        rows(1);
        MillraceException damaged = assertThrows(MillraceException.class, () -> accept(HistoryRecords.epoch(20, 2)));
        assertEquals("XX001", damaged.sqlState().code());
        assertTrue(damaged.getMessage().contains("here"), damaged.getMessage());
        HistoryContents none = new HistoryContents("there");
        assertEquals(
                "XX001",
                assertThrows(MillraceException.class, none::requireBase)
                        .sqlState()
                        .code());
    }
}
