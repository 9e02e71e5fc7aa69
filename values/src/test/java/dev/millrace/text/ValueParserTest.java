package dev.millrace.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.apache.arrow.memory.ArrowBuf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ValueParserTest {
    private final Texts texts = new Texts();

    @AfterEach
    void close() {
        texts.close();
    }

    @Test
    void booleansReadAsPostgresReadsThem() {
        for (String yes : List.of("t", "true", "TRUE", "y", "yes", "on", "1", " tru ")) {
            assertTrue(texts.read(yes, texts.parser::bool), yes);
        }
        for (String no : List.of("f", "false", "n", "no", "off", "of", "0")) {
            assertFalse(texts.read(no, texts.parser::bool), no);
        }
        for (String bad : List.of("", "o", "truee", "2", "yesno")) {
            assertEquals(
                    "22P02 invalid input syntax for type boolean: \"" + bad + "\"", texts.error(DataType.BOOLEAN, bad));
        }
    }

    @Test
    void textIsCheckedForEncodingAndLength() {
        assertEquals("none", texts.error(DataType.TEXT, "blå café 日本 😀"));
        assertEquals("22021", texts.error(DataType.TEXT, "a\0b").substring(0, 5));
        assertEquals("none", texts.error(DataType.varchar(3), "åäö"));
        assertEquals("none", texts.error(DataType.varchar(3), "abc   "));
        assertEquals("22001 value too long for type character varying(3)", texts.error(DataType.varchar(3), "abcd"));
        assertEquals("22P02 invalid input syntax for type uuid: \"a0eebc99\"", texts.error(DataType.UUID, "a0eebc99"));
    }

    @Test
    void utf8ValidityAgreesWithTheJdk() {
        long seed = Long.getLong("seed", 1);
        Random random = new Random(seed);
        int[] interesting = {
            0x00, 0x41, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff
        };
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = random.nextInt(3) == 0
                    ? new String(Character.toChars(random.nextInt(0x10ffff))).getBytes(StandardCharsets.UTF_8)
                    : new byte[random.nextInt(14)];
            for (int j = 0; j < bytes.length && random.nextInt(3) != 0; j++) {
                bytes[random.nextInt(bytes.length)] = (byte) interesting[random.nextInt(interesting.length)];
            }
            boolean valid = java.util.Arrays.equals(
                    bytes, new String(bytes, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8));
            try (ArrowBuf memory = texts.allocator.buffer(16)) {
                memory.setBytes(0, bytes);
                String shown = java.util.HexFormat.of().formatHex(bytes) + ", seed " + seed;
                assertEquals(valid, Utf8.isValid(memory.memoryAddress(), bytes.length), shown);
                boolean plain = valid
                        && new String(bytes, StandardCharsets.UTF_8).chars().allMatch(c -> c > 0 && c < 128);
                assertEquals(plain, Utf8.isPlain(memory.memoryAddress(), bytes.length), shown);
            }
        }
    }

    @Test
    void byteaTakesHexAndEscapes() {
        try (ArrowBuf target = texts.allocator.buffer(64)) {
            long at = target.memoryAddress();
            for (String text : List.of("\\xDEadBE ef", "\\336\\255\\276\\357")) {
                int length = texts.read(text, (address, bytes) -> texts.parser.bytea(address, bytes, at));
                assertEquals("\\xdeadbeef", texts.write(out -> ValueWriter.bytea(out, at, length)));
            }
            assertEquals(false, texts.read("\\xabc", (address, bytes) -> texts.parser.tryBytea(address, bytes, at)));
            assertEquals(false, texts.read("\\xzz", (address, bytes) -> texts.parser.tryBytea(address, bytes, at)));
        }
    }
}
