package dev.millrace.server.bytes;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.Connectors;
import dev.millrace.connectors.arrow.ArrowStream;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.CheckedMemory;
import dev.millrace.memory.Memory;
import dev.millrace.server.copy.CopyOutput;
import dev.millrace.server.pgwire.value.BinaryParameter;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.sketch.file.SketchFile;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8Text;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Damages messages of every format and has a database read them, as a role that may not read the table of canaries. Each must
 * be read or refused with an error that is the client's; no access to memory may be wrong, nothing may take longer than its
 * time, and no canary may be in an answer or in a stored row.
 *
 * <p>Arguments: how many, the seed, the number of the first. Ends with 0, or says which case of which seed failed.
 */
public final class BytesFuzz {
    private static final String CANARY = "canary-of-another-table";
    private static final int BASES = 60; // valid messages of a format
    private static final int LOOK_EVERY = 500;
    private static final long MOST_NANOS = 60_000_000_000L; // of one case, on a machine with other things to do
    private static final String COLUMNS =
            "a BOOLEAN, b SMALLINT, c INTEGER, d BIGINT, e REAL, f DOUBLE PRECISION, g NUMERIC(20,4),"
                    + " h TEXT, i VARCHAR(8), j CHAR(4), k BYTEA, l DATE, m TIME, n TIMESTAMP, o TIMESTAMPTZ, p INTERVAL, q UUID, r JSONB";
    private static final String NESTED = ", y INTEGER[], z ROW(a INTEGER, b TEXT[], c ROW(d DATE))";
    private static final List<String> FORMS = List.of("text", "csv", "binary");

    private final long seed;
    private final Database database;
    private final Session session;
    private final BufferAllocator allocator;
    private final ArrowLayouts arrow;
    private final Path file;
    private final List<Layout> parquet;
    private final RecordFuzz records;
    private final List<List<Layout>> copies = new ArrayList<>();
    private final List<List<byte[]>> values = new ArrayList<>(); // per column its values in binary
    private final Schema schema;
    private final AtomicLong current = new AtomicLong(-1);
    private volatile long began;
    private volatile byte[] sent = new byte[0];
    private volatile String format = "";

    private BytesFuzz(long seed) throws Exception {
        this.seed = seed;
        database = Database.open(DatabaseOptions.defaults().withWorkers(1));
        database.execute("CREATE TABLE secret (s TEXT); INSERT INTO secret SELECT '" + CANARY
                + "' || g FROM generate_series(1, 20000) AS g; CREATE TABLE t (" + COLUMNS + "); CREATE TABLE v ("
                + COLUMNS + NESTED + "); CREATE TABLE w (" + COLUMNS + NESTED
                + ", s TEXT[]); CREATE USER fuzz; GRANT SELECT, INSERT, DELETE ON v, w TO fuzz");
        session = database.login("fuzz");
        allocator = session.allocator();
        arrow = new ArrowLayouts(allocator);
        file = Files.createTempFile("millrace-bytes", ".any");
        parquet = ParquetLayouts.all(file);
        try (Session admin = database.session()) {
            admin.execute(
                            "INSERT INTO t SELECT g % 2 = 0, g, g * 1000, g * 1000000007::bigint, g / 3.0, g / 7.0, g * 1.25, 'text ' || g, 'v' || g,"
                                    + " 'c', decode(md5(g::text), 'hex'), date '2024-01-01' + g, time '00:00' + g * interval '1 minute',"
                                    + " timestamp '2024-01-01' + g * interval '1 hour', timestamptz '2024-01-01Z' + g * interval '1 hour',"
                                    + " g * interval '1 day 1 second', md5(g::text)::uuid, ('{\"a\": [' || g || ', {\"b\": \"c\"}]}')::jsonb"
                                    + " FROM generate_series(1, 100) AS g; INSERT INTO t (c) VALUES (NULL)")
                    .drain();
            schema = bases(admin);
            try (StatementResult result =
                            admin.execute(admin.parse("SELECT * FROM t").get(0), Parameters.none());
                    Batch rows = ((StatementResult.Rows) result).next().orElseThrow()) {
                records = new RecordFuzz(allocator, rows);
            }
            admin.execute("DELETE FROM t").drain();
        }
    }

    // ---- valid messages --------------------------------------------------------------------------------------------

    private Schema bases(Session admin) {
        Schema found = null;
        Random random = new Random(seed);
        for (String form : FORMS) {
            List<Layout> layouts = new ArrayList<>();
            for (int n = 0; n < BASES; n++) {
                int rows = random.nextInt(5);
                String sql =
                        "COPY (SELECT *, ARRAY[c, NULL, b] AS y, ROW(c, ARRAY[h, NULL], ROW(l)) AS z FROM t OFFSET "
                                + random.nextInt(95) + " LIMIT " + rows + ") TO STDOUT (FORMAT " + form + ")";
                try (StatementResult.CopyOut out = (StatementResult.CopyOut)
                                admin.execute(admin.parse(sql).get(0), Parameters.none());
                        TextBuffer text = new TextBuffer(allocator, 1000)) {
                    StatementResult.Rows source = (StatementResult.Rows) out.source();
                    found = source.schema();
                    CopyOutput output = new CopyOutput(out.options());
                    output.begin(text, found);
                    source.forEach(
                            batch -> IntStream.range(0, batch.rowCount()).forEach(row -> output.row(text, batch, row)));
                    output.end(text);
                    Layout layout = new Layout(text.toBytes());
                    layouts.add(form.equals("binary") ? binary(layout) : layout.text());
                }
            }
            copies.add(layouts);
        }
        return found;
    }

    /** A binary COPY: counts, lengths, and what is in the values, two bytes by two. */
    private Layout binary(Layout layout) {
        ByteBuffer in = ByteBuffer.wrap(layout.bytes());
        layout.number(11, 4, ByteOrder.BIG_ENDIAN).number(15, 4, ByteOrder.BIG_ENDIAN);
        int at = 19;
        while (at + 2 <= layout.bytes().length) {
            int count = in.getShort(at);
            layout.number(at, 2, ByteOrder.BIG_ENDIAN);
            at += 2;
            for (int column = 0; column < count; column++) {
                int length = in.getInt(at);
                for (int i = 0; i < 3; i++) { // lengths three times as often as what they are lengths of
                    layout.number(at, 4, ByteOrder.BIG_ENDIAN);
                }
                at += 4;
                if (length > 0) {
                    layout.number(at, length >= 8 ? 8 : length >= 4 ? 4 : 1, ByteOrder.BIG_ENDIAN);
                    while (values.size() <= column) {
                        values.add(new ArrayList<>());
                    }
                    byte[] value = new byte[length];
                    System.arraycopy(layout.bytes(), at, value, 0, length);
                    values.get(column).add(value);
                    at += length;
                }
            }
        }
        return layout;
    }

    // ---- one case --------------------------------------------------------------------------------------------------

    private void run(long number) throws Exception {
        Random random = new Random(seed * 1_000_003 + number);
        try {
            switch (random.nextInt(20)) {
                case 0, 1, 2 -> copy(2, random);
                case 3 -> copy(0, random);
                case 4 -> copy(1, random);
                case 5, 6, 7 -> parameter(random);
                case 8 -> array(random);
                case 9, 10, 11, 12 -> arrowStream(random);
                case 13 -> {
                    if (random.nextBoolean()) {
                        file("arrow", arrow.random(random, names()).damaged(random), random);
                    } else {
                        file(
                                "parquet",
                                parquet.get(random.nextInt(parquet.size())).damaged(random),
                                random);
                    }
                }
                case 14 -> texts(random);
                case 15, 16, 17, 18 ->
                    records.run(random, this::sending, BytesFuzz::lookAndClose, BytesFuzz::notOfOthers);
                default -> sketch(random);
            }
        } catch (MillraceException e) {
            expected(e);
        }
    }

    private static void expected(MillraceException e) {
        String code = e.sqlState().code();
        String text = e.getMessage() + e.hint().orElse("");
        if (text.contains("canary")) {
            throw new AssertionError("an error shows memory of others: " + text);
        }
        if (code.startsWith("53") || code.startsWith("XX") && !code.equals("XX001")) {
            throw new AssertionError(code + " " + text, e);
        }
    }

    private byte[] sending(String name, byte[] bytes) {
        format = name;
        sent = bytes;
        return bytes;
    }

    private List<String> names() {
        List<String> names = new ArrayList<>(schema.names());
        names.add("s");
        return names;
    }

    private void copy(int form, Random random) {
        List<Layout> layouts = copies.get(form);
        byte[] data = sending(
                "COPY " + FORMS.get(form),
                layouts.get(random.nextInt(layouts.size())).damaged(random));
        String sql = "COPY v FROM STDIN (FORMAT " + FORMS.get(form) + ")";
        try (StatementResult.CopyIn copy =
                (StatementResult.CopyIn) session.execute(session.parse(sql).get(0), Parameters.none())) {
            for (int at = 0; at < data.length; ) {
                int piece = random.nextBoolean() ? data.length - at : 1 + random.nextInt(data.length - at);
                long block = Memory.allocate(piece);
                try {
                    Memory.copyIn(data, at, block, piece);
                    copy.write(block, piece);
                } finally {
                    Memory.free(block);
                }
                at += piece;
            }
            copy.finish();
        }
    }

    private void parameter(Random random) {
        int column = random.nextInt(values.size());
        List<byte[]> ofColumn = values.get(column);
        byte[] value = ofColumn.get(random.nextInt(ofColumn.size()));
        Layout layout = new Layout(value);
        for (int at = 0; at < value.length; at += 2) {
            layout.number(at, 2, ByteOrder.BIG_ENDIAN);
        }
        DataType type = schema.field(column).type();
        byte[] bytes = sending("parameter " + type, layout.damaged(random));
        if (random.nextInt(4) == 0) {
            select(Utf8Text.decode(bytes), type);
        } else {
            select(text(type, bytes), type);
        }
    }

    private String text(DataType type, byte[] bytes) {
        ByteBuf buffer = Unpooled.wrappedBuffer(bytes);
        return BinaryParameter.text(type, buffer, 1, allocator);
    }

    /** What the server would do with a parameter's text. */
    private void select(String text, DataType type) {
        Parameters parameters = Parameters.of(List.of(type), List.of(Optional.of(text)));
        try (StatementResult result = session.execute(session.parse("SELECT $1").get(0), parameters)) {
            look((StatementResult.Rows) result);
        }
    }

    private void array(Random random) {
        int column = random.nextInt(values.size());
        List<byte[]> ofColumn = values.get(column);
        int count = random.nextInt(5);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List<Integer> lengths = new ArrayList<>();
        out.writeBytes(ByteBuffer.allocate(20)
                .putInt(1)
                .putInt(0)
                .putInt(25)
                .putInt(count)
                .putInt(1)
                .array());
        for (int i = 0; i < count; i++) {
            byte[] value = ofColumn.get(random.nextInt(ofColumn.size()));
            lengths.add(out.size());
            out.writeBytes(ByteBuffer.allocate(4).putInt(value.length).array());
            out.writeBytes(value);
        }
        Layout layout = new Layout(out.toByteArray());
        for (int at = 0; at < 20; at += 4) {
            layout.number(at, 4, ByteOrder.BIG_ENDIAN);
        }
        lengths.forEach(at -> layout.number(at, 4, ByteOrder.BIG_ENDIAN));
        DataType type = DataType.array(schema.field(column).type());
        select(text(type, sending("parameter " + type, layout.damaged(random))), type);
    }

    /** As the endpoint for rows reads a body. */
    private void arrowStream(Random random) throws Exception {
        byte[] body = sending("Arrow", arrow.random(random, names()).damaged(random));
        try (BufferAllocator own =
                        allocator.newChildAllocator("case", 0, Long.MAX_VALUE); // which must be empty in the end
                ArrowStream stream = new ArrowStream(new ByteArrayInputStream(body), own)) {
            while (stream.next()) {
                session.insert("w", stream.root());
            }
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains("canary")) {
                throw new AssertionError("an error shows memory of others: " + e.getMessage(), e);
            }
        }
    }

    private void texts(Random random) throws IOException {
        String line =
                "{\"c\": 12, \"h\": \"a \\\"b\\\" \\u00e9\", \"r\": {\"x\": [1, 2, {\"y\": null}]}, \"l\": \"2024-01-02\", \"g\": 1.5e3}\n";
        boolean json = random.nextBoolean();
        String csv = String.join(",", schema.names()) + "\n"
                + new String(copies.get(1).get(random.nextInt(BASES)).bytes(), StandardCharsets.UTF_8);
        Layout layout =
                new Layout((json ? line.repeat(1 + random.nextInt(4)) : csv).getBytes(StandardCharsets.UTF_8)).text();
        file(json ? "json" : "csv", layout.damaged(random), random);
    }

    /** As a source of files reads them, packed or not. */
    private void file(String kind, byte[] content, Random random) throws IOException {
        byte[] bytes = content;
        boolean packed = !kind.equals("parquet") && random.nextInt(4) == 0; // which packs by itself
        if (packed) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
                zip.write(content);
            }
            Layout layout = new Layout(out.toByteArray());
            layout.number(3, 1, ByteOrder.LITTLE_ENDIAN)
                    .number(out.size() - 4, 4, ByteOrder.LITTLE_ENDIAN)
                    .number(out.size() - 8, 4, ByteOrder.LITTLE_ENDIAN);
            bytes = random.nextBoolean() ? layout.damaged(random) : layout.bytes();
        }
        sending("file " + kind + (packed ? ".gz" : ""), bytes);
        Path path = packed ? file.resolveSibling(file.getFileName() + ".gz") : file;
        Files.write(path, bytes);
        try (BufferAllocator own = allocator.newChildAllocator("case", 0, Long.MAX_VALUE)) {
            var source = Connectors.standard(System.out)
                    .source("file")
                    .create(
                            kind.equals("parquet") ? new Schema(List.of()) : schema,
                            new Options(Map.of("path", path.toString(), "format", kind)));
            List<Integer> columns =
                    IntStream.range(0, source.schema().size()).boxed().toList();
            List<SourceReader> readers = source.open(new ScanRequest(columns, List.of(), 1), new Context(own));
            try {
                for (SourceReader reader : readers) {
                    while (!reader.isFinished()) {
                        reader.poll().ifPresent(BytesFuzz::lookAndClose);
                    }
                }
            } finally {
                readers.forEach(SourceReader::close);
            }
        } finally {
            Files.deleteIfExists(path);
        }
    }

    private void sketch(Random random) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("MRSK\1\0".getBytes(StandardCharsets.ISO_8859_1));
        List<Integer> lengths = new ArrayList<>();
        for (int n = random.nextInt(4); n > 0; n--) {
            byte[] segment = new byte[random.nextInt(60)];
            random.nextBytes(segment);
            lengths.add(out.size());
            out.writeBytes(ByteBuffer.allocate(4)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(segment.length)
                    .array());
            out.writeBytes(segment);
        }
        Layout layout = new Layout(out.toByteArray());
        lengths.forEach(at -> layout.number(at, 4, ByteOrder.LITTLE_ENDIAN));
        Files.write(file, sending("sketch file", layout.damaged(random)));
        SketchFile.read(file);
    }

    private record Context(BufferAllocator allocator) implements SourceContext {

        @Override
        public Clock clock() {
            return Clock.system();
        }

        @Override
        public int batchRows() {
            return 1000;
        }

        @Override
        public void wakeUp() {}

        @Override
        public void reject(RejectedRecord record) {
            notOfOthers(record.toString());
        }
    }

    // ---- what came of it -------------------------------------------------------------------------------------------

    private static void lookAndClose(Batch batch) {
        try (batch) {
            for (int row = 0; row < batch.rowCount(); row++) {
                for (int column = 0; column < batch.columnCount(); column++) {
                    ValueText.format(batch, column, row).ifPresent(BytesFuzz::notOfOthers);
                }
            }
        }
    }

    private static void notOfOthers(String text) {
        if (text.contains("canary")) {
            throw new AssertionError("an answer has what the role may not read: " + text);
        }
    }

    private void look(StatementResult.Rows rows) {
        for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
            lookAndClose(next.get());
        }
    }

    private void lookAtTables() {
        for (String table : List.of("v", "w")) {
            try (StatementResult result =
                    session.execute(session.parse("SELECT * FROM " + table).get(0), Parameters.none())) {
                look((StatementResult.Rows) result);
            }
            session.execute("DELETE FROM " + table).drain();
        }
    }

    // ---- all of them -----------------------------------------------------------------------------------------------

    private void runAll(long first, long count) {
        for (long number = first; number < first + count; number++) {
            began = System.nanoTime();
            current.set(number);
            try {
                run(number);
                if (number % LOOK_EVERY == LOOK_EVERY - 1 || number == first + count - 1) {
                    lookAtTables();
                }
                if (!CheckedMemory.found().isEmpty()) {
                    throw CheckedMemory.found().get(0);
                }
            } catch (Throwable e) {
                e.printStackTrace(System.out);
                fail(e.toString());
            }
        }
        current.set(-1);
    }

    /** Says what failed, and ends the JVM at once: memory may be damaged. */
    private void fail(String why) {
        System.out.println("FAILED bytes case " + current.get() + " of seed " + seed + ", " + format + ": " + why);
        System.out.println(HexFormat.of().formatHex(sent, 0, Math.min(sent.length, 4000)));
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }

    private void watch(Thread worker) throws InterruptedException {
        long next = System.nanoTime() + 10_000_000_000L;
        while (worker.isAlive()) {
            worker.join(100);
            if (current.get() >= 0 && System.nanoTime() - began > MOST_NANOS) {
                for (StackTraceElement at : worker.getStackTrace()) {
                    System.out.println("\tat " + at);
                }
                fail("it does not end");
            }
            if (System.nanoTime() > next) {
                next += 10_000_000_000L;
                System.out.printf("%,d damaged messages, seed %d%n", current.get(), seed);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        long count = Long.parseLong(arguments[0]);
        BytesFuzz fuzz = new BytesFuzz(Long.parseLong(arguments[1]));
        Thread worker = new Thread(() -> fuzz.runAll(Long.parseLong(arguments[2]), count), "bytes");
        worker.setDaemon(true);
        worker.start();
        fuzz.watch(worker);
        fuzz.records.close();
        fuzz.session.close();
        fuzz.database.close();
        Files.deleteIfExists(fuzz.file);
        System.out.printf(
                "%,d damaged messages, seed %d: all were read or refused, memory %s%n",
                count, fuzz.seed, CheckedMemory.isOn() ? "checked" : "not checked");
    }
}
