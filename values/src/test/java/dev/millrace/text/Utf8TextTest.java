package dev.millrace.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class Utf8TextTest {
    @Test
    void textsAreReadAsTheyWereWritten() {
        for (String text :
                new String[] {"", "a", "SELECT 1", "\u0001\u007f", "Mühle", "水車", "😀 and 😀", "\u0080", "a\uffff"}) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(100);
            bytes.put((byte) 'x')
                    .put(text.getBytes(StandardCharsets.UTF_8))
                    .flip()
                    .position(1);
            assertEquals(text, Utf8Text.decode(bytes));
            assertEquals(0, bytes.remaining());
            assertEquals(text, Utf8Text.decode(text.getBytes(StandardCharsets.UTF_8)));
        }
    }

    @Test
    void whatIsNoTextIsRefusedAndNamed() {
        assertRefused("0x00", 'a', 0, 'b');
        assertRefused("0x00", 0xc3, 0xbc, 0);
        assertRefused("0xff", 'a', 0xff, 'b');
        assertRefused("0xc3", 'a', 0xc3);
        assertRefused("0x80", 0x80, 'a');
        assertRefused("0xed 0xa0 0x80", 0xed, 0xa0, 0x80);
    }

    private static void assertRefused(String named, int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        MillraceException why = assertThrows(MillraceException.class, () -> Utf8Text.decode(bytes));
        assertEquals(SqlState.CHARACTER_NOT_IN_REPERTOIRE, why.sqlState());
        assertEquals("invalid byte sequence for encoding \"UTF8\": " + named, why.getMessage());
    }
}
