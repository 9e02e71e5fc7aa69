package dev.millrace.connectors.compression;

import static dev.millrace.connectors.format.Decoding.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.connectors.json.JsonRecordFormatFactory;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.xerial.snappy.SnappyFramedOutputStream;
import org.xerial.snappy.SnappyOutputStream;

class CompressionTest {
    private static final CompressedFormatFactory FACTORY = new CompressedFormatFactory(new JsonRecordFormatFactory());
    private static final Schema COLUMNS =
            Schema.of(new Field("id", DataType.BIGINT, false), new Field("name", DataType.TEXT, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static RecordFormat format(String compression, int mostBytes) {
        return FACTORY.create(
                COLUMNS, new Options(Map.of("compression", compression, "compression.max_bytes", "" + mostBytes)));
    }

    private static byte[] json(int id, int length) {
        return bytes("{\"id\":" + id + ",\"name\":\"" + "x".repeat(length) + "\"}");
    }

    @ParameterizedTest
    @EnumSource(names = {"GZIP", "ZSTD", "LZ4", "SNAPPY"})
    void valuesAreUnpackedWithinBounds(Compression compression) {
        Decoding decoding = new Decoding(memory.allocator());
        byte[] bomb = compression.pack(json(4, 3_000_000));
        byte[] whole = compression.pack(json(5, 50));
        byte[] damaged = whole.clone();
        damaged[damaged.length / 2] ^= 0x55;
        byte[] half = java.util.Arrays.copyOf(whole, whole.length / 2);
        List<String> rows = decoding.rows(
                format(compression.name(), 10_000),
                compression.pack(json(1, 1)),
                bomb,
                compression.pack(bytes("{\"id\":\"?\"}")),
                half,
                compression.pack(json(3, 9000)),
                null,
                bytes("not packed"));
        assertEquals(List.of("1|x", "3|" + "x".repeat(9000)), rows);
        assertEquals(
                List.of("1", "2", "3", "5", "6"),
                decoding.rejected.stream().map(each -> each.split(" ")[0]).toList(),
                decoding.rejected.toString());
        assertTrue(
                decoding.rejected.get(0).contains("54000 the unpacked record is longer than 10000 bytes"),
                decoding.rejected.get(0));
        assertTrue(decoding.rejected.get(2).contains("22P03 the packed record is damaged"), decoding.rejected.get(2));
        decoding.rows(format(compression.name(), 10_000), damaged); // it is read or rejected
        assertTrue(bomb.length < 200_000);
    }

    @Test
    void autoIsWhatTheFirstBytesSay() throws IOException {
        List<byte[]> records = new ArrayList<>();
        for (Compression each : List.of(Compression.GZIP, Compression.ZSTD, Compression.LZ4, Compression.NONE)) {
            records.add(each.pack(json(records.size(), 3)));
        }
        ByteArrayOutputStream framed = new ByteArrayOutputStream();
        try (SnappyFramedOutputStream out = new SnappyFramedOutputStream(framed)) {
            out.write(json(4, 3));
        }
        ByteArrayOutputStream blocks = new ByteArrayOutputStream();
        try (SnappyOutputStream out = new SnappyOutputStream(blocks, 1024)) {
            out.write(json(5, 5000));
        }
        records.add(framed.toByteArray());
        records.add(blocks.toByteArray());
        Decoding decoding = new Decoding(memory.allocator());
        List<String> rows = decoding.rows(format("auto", 10_000), records.toArray(byte[][]::new));
        assertEquals(List.of("0|xxx", "1|xxx", "2|xxx", "3|xxx", "4|xxx", "5|" + "x".repeat(5000)), rows);
        assertEquals(List.of(), decoding.rejected);
    }

    @Test
    void damagedValuesAreRejectedOrRead() {
        Random random = new Random(1);
        Decoding decoding = new Decoding(memory.allocator());
        int read = 0;
        for (int n = 0; n < 2000; n++) {
            Compression compression = Compression.values()[1 + random.nextInt(4)];
            byte[] value = compression.pack(json(n, random.nextInt(300)));
            for (int k = random.nextInt(3); k >= 0; k--) {
                value[random.nextInt(value.length)] = (byte) random.nextInt();
            }
            read += decoding.rows(format(random.nextBoolean() ? "auto" : compression.name(), 10_000), value)
                    .size();
        }
        assertEquals(2000, read + decoding.rejected.size());
    }

    @Test
    void whatIsWrittenIsPacked() {
        try (Batch batch = TestBatches.of(COLUMNS, memory.allocator(), Row.of(1L, "a"));
                RecordEncoder encoder = FACTORY.encoder(COLUMNS, new Options(Map.of("compression", "zstd")));
                TextBuffer out = new TextBuffer(memory.allocator(), 64)) {
            out.appendAscii("key");
            encoder.encode(batch, 0, out);
            byte[] value = java.util.Arrays.copyOfRange(out.toBytes(), 3, (int) out.length());
            Decoding decoding = new Decoding(memory.allocator());
            assertEquals(List.of("1|a"), decoding.rows(format("zstd", 10_000), value));
        }
    }
}
