package dev.millrace.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EncodedRecordsTest {
    @Test
    void recordsOfAnyNumberAreKeptInTheirOrder() {
        EncodedRecords records = new EncodedRecords();
        records.add(7, 8, 9);
        records.clear();
        for (int i = 0; i < 1000; i++) {
            records.add(10 * i + 2, 10 * i + 9, 10 * i, 10 * i + 2, 1L << 40 | i);
        }
        records.place(4096, 10_000);
        assertEquals(1000, records.count());
        assertEquals(4096, records.address());
        assertEquals(10_000, records.end());
        for (int i = 0; i < 1000; i++) {
            assertEquals(10 * i + 2, records.from(i));
            assertEquals(10 * i + 9, records.to(i));
            assertEquals(10 * i, records.keyFrom(i));
            assertEquals(10 * i + 2, records.keyTo(i));
            assertEquals(1L << 40 | i, records.position(i));
        }
    }

    @Test
    void aNullValueIsNotOneOfNoBytes() {
        EncodedRecords records = new EncodedRecords();
        records.add(0, 0, 1);
        records.add(-1, -1, 0, 0, 2);
        assertFalse(records.isNull(0));
        assertFalse(records.hasKey(0));
        assertTrue(records.isNull(1));
        assertTrue(records.hasKey(1));
    }

    @Test
    void rowsAreOfTheRecordsThatAreSaid() {
        assertEquals(3, DecodedRows.ofAll(List.of(), 5).record(3));
        DecodedRows some = new DecodedRows(List.of(), 2, Optional.of(new int[] {1, 4}), Optional.empty());
        assertEquals(4, some.record(1));
    }

    @Test
    void aFormatThatIsNotThereIsRefused() {
        RecordFormats none = new RecordFormats(List.of());
        assertTrue(assertThrows(MillraceException.class, () -> none.named("jsn"))
                .getMessage()
                .contains("there is no format \"jsn\""));
    }
}
