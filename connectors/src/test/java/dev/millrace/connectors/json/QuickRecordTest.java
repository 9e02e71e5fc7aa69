package dev.millrace.connectors.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The quick reader against the careful one, which is Jackson's. A failure prints its seed; -Dseed repeats it. */
class QuickRecordTest {
    private static final int RECORDS = Integer.getInteger("fuzz.records", 4_000);
    private static final String[] NAMES = {
        "a", "b", "long_name_of_a_member", "nested", "list", "x", "é", "A", "t", "n", "j"
    };

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static List<JsonColumn> columns() {
        List<JsonColumn> columns = new ArrayList<>();
        add(columns, "a", DataType.BIGINT, "a");
        add(columns, "b", DataType.TEXT, "b");
        add(columns, "f", DataType.DOUBLE, "long_name_of_a_member");
        add(columns, "t", DataType.TIMESTAMP, "t");
        add(columns, "flag", DataType.BOOLEAN, "x");
        add(columns, "n", DataType.numeric(20, 3), "n");
        add(columns, "j", DataType.JSONB, "j");
        add(columns, "inner", DataType.INTEGER, "nested", "a");
        add(columns, "whole", DataType.JSONB, "nested");
        add(columns, "first", DataType.TEXT, "list", "[0]");
        add(columns, "third", DataType.TEXT, "list", "[2]", "b");
        add(columns, "accent", DataType.varchar(3), "é");
        add(columns, "bytes", DataType.BYTEA, "b");
        add(columns, "array", DataType.array(DataType.INTEGER), "list");
        return columns;
    }

    private static void add(List<JsonColumn> columns, String name, DataType type, String... path) {
        columns.add(new JsonColumn(new Field(name, type, true), List.of(path), Optional.empty()));
    }

    /** What a reader makes of a record: its row as text, or why there is none. */
    private interface Reading {
        boolean read(long address, int length, int row);
    }

    private String row(List<JsonValues> values, Reading reading, byte[] record) {
        values.forEach(value -> value.begin(1));
        // At the very end of its memory but for eight bytes, of the most misleading kind.
        try (ArrowBuf buffer = memory.allocator().buffer(record.length + 8)) {
            long address = buffer.memoryAddress();
            Memory.fill(address + record.length, 8, (byte) '"');
            Memory.copyIn(record, 0, address, record.length);
            boolean read;
            try {
                read = reading.read(address, record.length, 0);
            } catch (MillraceException e) {
                values.forEach(value -> value.drop(0));
                return "rejected: " + e.getMessage();
            }
            if (!read) {
                values.forEach(value -> value.drop(0));
                return "gave up";
            }
            values.forEach(value -> value.keep(0));
        }
        FieldVector[] vectors = new FieldVector[values.size()];
        List<Field> fields = new ArrayList<>();
        List<JsonColumn> columns = columns();
        for (int i = 0; i < vectors.length; i++) {
            vectors[i] = values.get(i).finish(1);
            fields.add(columns.get(i).field());
        }
        List<String> texts = new ArrayList<>();
        try (Batch batch = Batch.of(new Schema(fields), vectors, 1)) {
            for (int i = 0; i < vectors.length; i++) {
                texts.add(ValueText.format(batch, i, 0).orElse("~"));
            }
        }
        return String.join("|", texts);
    }

    private List<JsonValues> values() {
        List<JsonValues> values = new ArrayList<>();
        for (JsonColumn column : columns()) {
            values.add(new JsonValues(column, true, memory.allocator()));
        }
        return values;
    }

    private int compare(List<byte[]> records, long seed) {
        List<JsonValues> quickValues = values();
        List<JsonValues> carefulValues = values();
        int sure = 0;
        try (QuickRecord quick = new QuickRecord(quickValues, Members.of(columns()), memory.allocator())) {
            CarefulRecord careful = new CarefulRecord(carefulValues, Members.of(columns()));
            for (int i = 0; i < records.size(); i++) {
                byte[] record = records.get(i);
                String found = row(quickValues, quick::read, record);
                String expected = row(
                        carefulValues,
                        (address, length, row) -> {
                            careful.read(address, length, row);
                            return true;
                        },
                        record);
                if (!found.equals("gave up")) {
                    assertEquals(
                            expected,
                            found,
                            "seed " + seed + " record " + i + ": " + new String(record, StandardCharsets.UTF_8));
                    sure++;
                } else if (!expected.startsWith("rejected") && seed < 0) {
                    assertEquals(expected, found, new String(record, StandardCharsets.UTF_8));
                }
            }
        } finally {
            quickValues.forEach(JsonValues::close);
            carefulValues.forEach(JsonValues::close);
        }
        return sure;
    }

    @Test
    void whatIsReadQuicklyIsWhatIsReadCarefully() {
        long seed = Long.getLong("seed", 1);
        Random random = new Random(seed);
        List<byte[]> records = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            StringBuilder text = new StringBuilder();
            object(text, random, 0);
            records.add(text.toString().getBytes(StandardCharsets.UTF_8));
        }
        int sure = compare(records, seed);
        assertTrue(sure > RECORDS / 10, "only " + sure + " were read quickly");
    }

    @Test
    void damagedRecordsAreNeverReadAsOthers() {
        long seed = Long.getLong("seed", 1);
        Random random = new Random(seed);
        List<byte[]> records = new ArrayList<>();
        byte[] pieces = "\"\\{}[]:,0123456789-+.eEtrufalsn u\u0000\u001f\n\u007f".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < RECORDS; i++) {
            StringBuilder text = new StringBuilder();
            object(text, random, 0);
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                int at = random.nextInt(bytes.length);
                if (random.nextInt(8) == 0) {
                    bytes = java.util.Arrays.copyOf(bytes, Math.max(1, at));
                } else {
                    bytes[at] =
                            random.nextInt(3) == 0 ? (byte) random.nextInt(256) : pieces[random.nextInt(pieces.length)];
                }
            }
            records.add(bytes);
        }
        compare(records, seed);
    }

    @Test
    void plainRecordsAreReadQuicklyAndOddOnesAsBefore() {
        List<byte[]> plain = new ArrayList<>();
        for (String text : List.of(
                "{}",
                " { \"a\" : 1 , \"b\" : \"x\" }\r",
                "{\"a\":1,\"a\":2,\"b\":null}",
                "{\"a\":1,\"a\":null}",
                "{\"b\":\"\\u00e9\\ud83d\\ude00\\n\\\"\\/\"}",
                "{\"b\":\"é😀\"}",
                "{\"\\u0061\":7,\"B\":\"folded\"}",
                "{\"nested\":{\"a\":5,\"b\":[1,{\"c\":[]}]},\"list\":[1,2,3]}",
                "{\"j\":\"with \\\"quotes\\\"\",\"x\":true}",
                "{\"a\":-9223372036854775808,\"long_name_of_a_member\":1e-7,\"n\":12345678901234567.125}",
                "{\"unknown\":[[[\"]\",{}]],false,null,-0.5e+3]}")) {
            plain.add(text.getBytes(StandardCharsets.UTF_8));
        }
        assertEquals(plain.size(), compare(plain, -1));
        List<byte[]> odd = new ArrayList<>();
        for (String text : List.of(
                "{\"b\":\"\\ud800\"}", // half a pair: refused, as text cannot hold it
                "{\"u\":\"\\ud800\",\"a\":1}", // but of no matter where nobody asks
                "{\"a\":" + "9".repeat(999) + "}",
                "{\"u\":" + "9".repeat(999) + ",\"a\":1}",
                "{\"u\":" + "[".repeat(400) + "]".repeat(400) + ",\"a\":1}",
                "{\"u\":" + "[".repeat(4000) + "]".repeat(4000) + ",\"a\":1}",
                "{\"" + "n".repeat(20_000) + "\":1,\"a\":1}",
                "{\"b\":\"\\u0000\"}",
                "{\"b\":\"a\u0000\"}",
                "{\"a\":01}",
                "{\"a\":NaN}",
                "{\"a\":1}x",
                "{\"a\":1,}",
                "{'a':1}",
                "[1]",
                "",
                "\ufeff{\"a\":1}")) {
            odd.add(text.getBytes(StandardCharsets.UTF_8));
        }
        odd.add(new byte[] {'{', '"', 'b', '"', ':', '"', (byte) 0xc1, (byte) 0x81, '"', '}'}); // a longer form of A
        odd.add(new byte[] {'{', '"', 'b', '"', ':', '"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"', '}'});
        odd.add(new byte[] {'{', '"', 'u', '"', ':', '"', (byte) 0xff, '"', '}'});
        compare(odd, 0);
    }

    private static void object(StringBuilder text, Random random, int depth) {
        text.append('{').append(blank(random));
        int members = random.nextInt(depth == 0 ? 9 : 4);
        for (int i = 0; i < members; i++) {
            text.append(i > 0 ? "," : "").append(blank(random));
            String name = NAMES[random.nextInt(NAMES.length)];
            text.append('"')
                    .append(random.nextInt(20) == 0 ? escaped(name) : name)
                    .append('"')
                    .append(blank(random));
            text.append(':').append(blank(random));
            if (depth == 0 && random.nextInt(3) > 0) {
                fitting(text, name, random);
            } else {
                value(text, random, depth + 1);
            }
            text.append(blank(random));
        }
        text.append('}').append(blank(random));
    }

    /** A value that the column of that name takes, most likely. */
    private static void fitting(StringBuilder text, String name, Random random) {
        switch (name) {
            case "a", "A" -> text.append(random.nextLong() >> random.nextInt(64));
            case "b" -> string(text, random);
            case "long_name_of_a_member", "n" -> text.append((random.nextInt() >> random.nextInt(32)) / 1000.0);
            case "x" -> text.append(random.nextBoolean());
            case "t" ->
                text.append("\"2026-01-").append(10 + random.nextInt(18)).append(" 10:20:30.5\"");
            case "nested" -> text.append("{\"a\":").append(random.nextInt(100)).append("}");
            case "list" -> text.append("[1, 2,3]");
            case "é" -> text.append("\"é\"");
            default -> value(text, random, 1);
        }
    }

    private static void value(StringBuilder text, Random random, int depth) {
        switch (random.nextInt(depth > 4 ? 6 : 8)) {
            case 0 -> text.append(random.nextInt(1000));
            case 1 -> text.append(random.nextGaussian());
            case 2 -> text.append("null");
            case 3 -> text.append(random.nextBoolean());
            case 4, 5 -> string(text, random);
            case 6 -> {
                text.append('[').append(blank(random));
                int elements = random.nextInt(5);
                for (int i = 0; i < elements; i++) {
                    text.append(i > 0 ? "," : "").append(blank(random));
                    value(text, random, depth + 1);
                }
                text.append(']');
            }
            default -> object(text, random, depth + 1);
        }
    }

    private static void string(StringBuilder text, Random random) {
        text.append('"');
        String[] parts = {
            "a",
            "xyz",
            "é",
            "😀",
            "\\n",
            "\\\"",
            "\\\\",
            "\\u00e9",
            "\\ud83d\\ude00",
            "\\ud800",
            "\\/",
            " ",
            "12",
            "}",
            "]"
        };
        for (int i = random.nextInt(12); i > 0; i--) {
            text.append(parts[random.nextInt(random.nextBoolean() ? 3 : parts.length)]);
        }
        text.append('"');
    }

    private static String escaped(String name) {
        return String.format("\\u%04X", (int) name.charAt(0)) + name.substring(1);
    }

    private static String blank(Random random) {
        return random.nextInt(6) == 0 ? " \t\r\n".substring(random.nextInt(4)) : "";
    }
}
