package dev.millrace.server.http;

import static dev.millrace.server.http.TestHttp.sqlState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.UnionVector;
import org.apache.arrow.vector.complex.impl.UnionListWriter;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Arrow's stream format over HTTP from clients whose bytes say what they like. */
class HttpArrowTest {
    private static final String CANARY = "the canary of another table";

    private static final DictionaryEncoding WORDS = new DictionaryEncoding(1, false, new ArrowType.Int(32, true));

    private TestHttp http;

    @BeforeEach
    void open() {
        http = new TestHttp();
        http.run("CREATE TABLE secret (s TEXT); INSERT INTO secret SELECT '" + CANARY
                + "' FROM generate_series(1, 20000);"
                + "CREATE TABLE t (a INT, b TEXT, d DATE, c TIME, n NUMERIC(5,2), l TEXT[], j JSONB)");
    }

    @AfterEach
    void close() {
        http.close();
    }

    private static byte[] stream(List<Function<BufferAllocator, FieldVector>> columns) throws Exception {
        return bytes(columns, false);
    }

    private static byte[] bytes(List<Function<BufferAllocator, FieldVector>> columns, boolean file) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RootAllocator allocator = new RootAllocator();
                VarCharVector words = (VarCharVector) texts(allocator, "word")) {
            DictionaryProvider provider = new DictionaryProvider.MapDictionaryProvider(new Dictionary(words, WORDS));
            List<FieldVector> vectors = new ArrayList<>();
            columns.forEach(column -> vectors.add(column.apply(allocator)));
            try (VectorSchemaRoot root = new VectorSchemaRoot(vectors)) {
                root.setRowCount(vectors.get(0).getValueCount());
                if (file) {
                    try (ArrowFileWriter writer = new ArrowFileWriter(root, provider, Channels.newChannel(out))) {
                        writer.writeBatch();
                    }
                } else {
                    try (ArrowStreamWriter writer = new ArrowStreamWriter(root, provider, Channels.newChannel(out))) {
                        writer.writeBatch();
                    }
                }
            }
        }
        return out.toByteArray();
    }

    private static FieldVector texts(BufferAllocator allocator, String... values) {
        VarCharVector vector = new VarCharVector("b", allocator);
        for (int row = 0; row < values.length; row++) {
            vector.setSafe(row, values[row].getBytes(StandardCharsets.ISO_8859_1));
        }
        vector.setValueCount(values.length);
        return vector;
    }

    private static byte[] little(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(values).forEach(bytes::putInt);
        return bytes.array();
    }

    private static byte[] little(long... values) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(values).forEach(bytes::putLong);
        return bytes.array();
    }

    /** The stream with other bytes in the place of the last ones like these. */
    private static byte[] replaced(byte[] stream, byte[] old, byte[] with) {
        String text = new String(stream, StandardCharsets.ISO_8859_1);
        String wanted = new String(old, StandardCharsets.ISO_8859_1);
        int at = old.length % 8 == 0 && old[0] != 0 ? text.indexOf(wanted) : text.lastIndexOf(wanted);
        assertTrue(at >= 0, "the bytes to replace");
        byte[] result = stream.clone();
        System.arraycopy(with, 0, result, at, with.length);
        return result;
    }

    private HttpResponse<String> post(byte[] body) throws Exception {
        HttpResponse<String> response = http.send(
                http.request("/api/v1/streams/t/rows", "content-type", "application/vnd.apache.arrow.stream")
                        .POST(BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofString());
        assertFalse(response.body().contains("canary"), response.body());
        return response;
    }

    private void refused(String expected, byte[] body) throws Exception {
        HttpResponse<String> response = post(body);
        assertEquals(expected, sqlState(response), response.body());
        assertEquals(
                "{\"n\":0}\n",
                http.post("/api/v1/query", "SELECT count(*) AS n FROM t").body());
    }

    private static byte[] threeTexts() throws Exception {
        return stream(List.of(allocator -> texts(allocator, "abc", "defg", "hi")));
    }

    @Test
    void offsetsOutsideOfTheirTextsAreRefused() throws Exception {
        byte[] offsets = little(0, 3, 7, 9);
        refused("400 22P04", replaced(threeTexts(), offsets, little(0, 3, 7, 900)));
        refused("400 22P04", replaced(threeTexts(), offsets, little(0, 3, 7, 0x7fffffff)));
        refused("400 22P04", replaced(threeTexts(), offsets, little(0, 3, 7, -1)));
        refused("400 22P04", replaced(threeTexts(), offsets, little(0, 3, 700, 9)));
        refused("400 22P04", replaced(threeTexts(), offsets, little(0, 3, 2, 9)));
        refused("400 22P04", replaced(threeTexts(), offsets, little(-5, 3, 7, 9)));
        refused("400 22P04", replaced(threeTexts(), offsets, little(0x40000000, 0x40000000, 0x40000000, 0x40000000)));
        refused("400 22P04", replaced(threeTexts(), offsets, little(64, 65, 66, 67)));
    }

    @Test
    void lengthsThatNoBytesBearOutTakeNoMemory() throws Exception {
        for (String hex : List.of(
                "ffffffffffffff3f",
                "ffffffffffffffff",
                "ffffff7f",
                "ffffffff00000000",
                "00000000",
                "41524f",
                "4152524f57310000ffffffffffffff7f",
                "")) {
            refused("400 22P04", HexFormat.of().parseHex(hex));
        }
        byte[] whole = threeTexts();
        for (int length = 0; length < whole.length - 8; length += 4) { // without the mark of the end it is whole
            if (length % 40 == 0 || length > whole.length - 100) {
                refused("400 22P04", Arrays.copyOf(whole, length));
            }
        }
    }

    @Test
    void rowsAndLengthsOfBuffersAreHeldToTheirBytes() throws Exception {
        byte[] good = stream(List.of(allocator -> {
            BigIntVector numbers = new BigIntVector("a", allocator);
            numbers.setSafe(0, 1L);
            numbers.setSafe(1, 2L);
            numbers.setNull(2);
            numbers.setValueCount(3);
            return numbers;
        }));
        byte[] nodes = little(3L, 1L);
        refused("400 22P04", replaced(good, nodes, little(Long.MAX_VALUE, 1L)));
        refused("400 22P04", replaced(good, nodes, little(-3L, 1L)));
        refused("400 22P04", replaced(good, nodes, little(3L, 4L)));
        refused("400 22P04", replaced(good, nodes, little(1L << 31, 1L)));
        byte[] buffers = little(0L, 1L, 8L, 24L);
        refused("400 22P04", replaced(good, buffers, little(0L, 0L, 8L, 24L)));
        refused("400 22P04", replaced(good, buffers, little(0L, 1L, 8L, 16L)));
        refused("400 22P04", replaced(good, buffers, little(0L, 1L, 8L, 240L)));
        refused("400 22P04", replaced(good, buffers, little(0L, 1L, -8L, 24L)));
        refused("400 22P04", replaced(good, buffers, little(0L, 1L, 1L << 62, 24L)));
        refused("400 22P04", replaced(good, buffers, little(0L, 1L, 8L, -24L)));
        refused("400 22P04", replaced(good, buffers, little(0L, 16L, 8L, 24L)));
        assertEquals(200, post(good).statusCode());
    }

    @Test
    void valuesAreWhatTheirTypesMayBe() throws Exception {
        refused("400 22021", stream(List.of(allocator -> texts(allocator, "ok", "\u00ff"))));
        refused("400 22021", stream(List.of(allocator -> texts(allocator, "a\0b"))));
        refused("400 22021", stream(List.of(allocator -> {
            LargeVarCharVector large = new LargeVarCharVector("b", allocator);
            large.setSafe(0, new byte[] {(byte) 0xc3});
            large.setValueCount(1);
            return large;
        })));
        refused("400 22008", stream(List.of(allocator -> {
            DateDayVector dates = new DateDayVector("d", allocator);
            dates.setSafe(0, Integer.MAX_VALUE - 1);
            dates.setValueCount(1);
            return dates;
        })));
        refused("400 22008", stream(List.of(allocator -> {
            TimeMicroVector times = new TimeMicroVector("c", allocator);
            times.setSafe(0, -1L);
            times.setValueCount(1);
            return times;
        })));
        refused("400 22003", stream(List.of(allocator -> {
            DecimalVector numbers = new DecimalVector("n", allocator, 5, 2);
            numbers.setSafe(0, 100_000);
            numbers.setValueCount(1);
            return numbers;
        })));
        refused("400 22P02", stream(List.of(allocator -> {
            FieldVector json = texts(allocator, "{\"a\": ");
            return renamed(json, "j", allocator);
        })));
    }

    private static FieldVector renamed(FieldVector vector, String name, BufferAllocator allocator) {
        var pair = vector.getTransferPair(name, allocator);
        pair.transfer();
        return (FieldVector) pair.getTo();
    }

    @Test
    void elementsOfArraysAreHeldToTheirBounds() throws Exception {
        byte[] good = stream(List.of(HttpArrowTest::lists));
        byte[] lists = little(0, 3, 5);
        refused("400 22P04", replaced(good, lists, little(0, 3, 50)));
        refused("400 22P04", replaced(good, lists, little(0, -3, 5)));
        refused("400 22P04", replaced(good, lists, little(0, 6, 5)));
        byte[] elements = little(0, 1, 2, 3, 4, 5);
        refused("400 22P04", replaced(good, elements, little(0, 1, 2, 3, 4, 50000)));
        refused("400 22P04", replaced(good, elements, little(0, 1, 2, 3, -4, 5)));
        assertEquals(200, post(good).statusCode());
        assertEquals(
                "{\"l\":[\"x\",\"x\",\"x\"]}\n{\"l\":[\"x\",\"x\"]}\n",
                http.post("/api/v1/query", "SELECT l FROM t ORDER BY cardinality(l) DESC")
                        .body());
    }

    private static FieldVector lists(BufferAllocator allocator) {
        ListVector vector = new ListVector("l", allocator, new FieldType(true, ArrowType.List.INSTANCE, null), null);
        UnionListWriter writer = vector.getWriter();
        for (int row = 0; row < 2; row++) {
            writer.setPosition(row);
            writer.startList();
            for (int i = 0; i < 3 - row; i++) {
                writer.varChar().writeVarChar("x");
            }
            writer.endList();
        }
        vector.setValueCount(2);
        return vector;
    }

    @Test
    void formsThatAreNotReadAreSaidToBeSo() throws Exception {
        refused("501 0A000", stream(List.of(allocator -> {
            IntVector indices = new IntVector(
                    new Field("a", new FieldType(true, new ArrowType.Int(32, true), WORDS), null), allocator);
            indices.setSafe(0, 0);
            indices.setValueCount(1);
            return indices;
        })));
        refused("501 0A000", stream(List.of(allocator -> {
            UnionVector union = UnionVector.empty("a", allocator);
            union.setValueCount(0);
            union.setInitialCapacity(1);
            union.allocateNew();
            union.setValueCount(1);
            return union;
        })));
    }

    @Test
    void theFileFormIsReadAsTheStreamItHolds() throws Exception {
        assertEquals(
                200,
                post(bytes(List.of(allocator -> texts(allocator, "one", "two")), true))
                        .statusCode());
        assertEquals(
                "{\"b\":\"one\"}\n{\"b\":\"two\"}\n",
                http.post("/api/v1/query", "SELECT b FROM t ORDER BY b").body());
    }
}
