package dev.millrace.server.bytes;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connectors.Connectors;
import dev.millrace.error.MillraceException;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.registry.RegistryServer;
import dev.millrace.text.TextBuffer;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Damages records of every format, packed or not, and decodes them among others that are whole. */
final class RecordFuzz implements AutoCloseable {
    private static final List<String> PACKINGS = List.of("none", "none", "gzip", "zstd", "lz4", "snappy", "auto");
    private static final int MOST_RECORDS = 6;

    private final BufferAllocator allocator;
    private final RegistryServer registry = RegistryServer.start();
    private final List<Case> cases = new ArrayList<>();

    /** A format with its columns, and valid records of it. */
    private record Case(
            String name,
            RecordFormatFactory factory,
            Schema schema,
            Map<String, String> options,
            Map<String, List<byte[]>> records) {}

    /** @param rows of all types */
    RecordFuzz(BufferAllocator allocator, Batch rows) {
        this.allocator = allocator;
        Schema all = rows.schema();
        add("json", rows, all, Map.of(), Map.of());
        add("csv", rows, all, Map.of(), Map.of());
        Map<String, String> registered = Map.of("schema_registry", registry.address(), "subject", "fuzz");
        add("avro", rows, all, registered, registered);
        add("protobuf", rows, all, Map.of(), Map.of("schema", descriptors(all)));
        for (DataType.Kind kind : List.of(DataType.Kind.TEXT, DataType.Kind.NUMERIC, DataType.Kind.TIMESTAMP)) {
            add("text", rows, ofKind(all, kind), Map.of(), Map.of());
        }
        add("raw", rows, ofKind(all, DataType.Kind.BYTEA), Map.of(), Map.of());
        senml();
    }

    private static Schema ofKind(Schema all, DataType.Kind kind) {
        Field field = all.fields().stream()
                .filter(each -> each.type().kind() == kind)
                .findFirst()
                .orElseThrow();
        return Schema.of(field);
    }

    private void add(String name, Batch rows, Schema schema, Map<String, String> write, Map<String, String> read) {
        RecordFormatFactory factory = Connectors.formats().named(name);
        Map<String, List<byte[]>> records = new HashMap<>();
        FieldVector[] vectors = schema.fields().stream()
                .map(field -> rows.column(rows.schema().indexOf(field.name())))
                .toArray(FieldVector[]::new);
        for (String packing : PACKINGS) {
            Map<String, String> options = new HashMap<>(write);
            options.put("compression", packing.equals("auto") ? "gzip" : packing);
            List<byte[]> made = new ArrayList<>();
            try (Batch columns =
                            Batch.view(schema, vectors, rows.rowCount(), Optional.empty(), List.of(rows.retain()));
                    RecordEncoder encoder = factory.encoder(schema, new Options(options));
                    TextBuffer text = new TextBuffer(allocator, 64)) {
                for (int row = 0; row < rows.rowCount(); row++) {
                    if (schema.size() > 1 || !vectors[0].isNull(row)) {
                        text.clear();
                        encoder.encode(columns, row, text);
                        made.add(text.toBytes());
                    }
                }
            }
            records.put(packing, made);
        }
        cases.add(new Case(name, factory, schema, read, records));
    }

    private void senml() {
        String pack =
                "[{\"bn\":\"urn:dev:1:\",\"bt\":1.7e9,\"bu\":\"Cel\",\"bver\":10,\"bv\":1},{\"n\":\"a\",\"v\":-2.5e-1,\"t\":-5},{\"n\":\"b\",\"vs\":\"\\u00e9\"},"
                        + "{\"n\":\"c\",\"vb\":true},{\"n\":\"d\",\"vd\":\"aGk\",\"ut\":1,\"s\":2}]";
        RecordFormatFactory factory = Connectors.formats().named("senml");
        Map<String, List<byte[]>> records = new HashMap<>();
        PACKINGS.forEach(
                packing -> records.put(packing, List.of(pack.getBytes(java.nio.charset.StandardCharsets.UTF_8))));
        cases.add(
                new Case("senml", factory, factory.infer(Optional.empty(), new Options(Map.of())), Map.of(), records));
    }

    /** The message type that the encoder's is: see docs/connectors.md. */
    private static String descriptors(Schema schema) {
        DescriptorProto.Builder message = DescriptorProto.newBuilder().setName("row");
        for (int i = 0; i < schema.size(); i++) {
            Type type = switch (schema.type(i).kind()) {
                case BOOLEAN -> Type.TYPE_BOOL;
                case SMALLINT, INTEGER -> Type.TYPE_INT32;
                case BIGINT -> Type.TYPE_INT64;
                case REAL -> Type.TYPE_FLOAT;
                case DOUBLE -> Type.TYPE_DOUBLE;
                case BYTEA -> Type.TYPE_BYTES;
                case TIMESTAMP, TIMESTAMPTZ -> Type.TYPE_MESSAGE;
                default -> Type.TYPE_STRING;
            };
            FieldDescriptorProto.Builder field = FieldDescriptorProto.newBuilder()
                    .setName(schema.field(i).name())
                    .setNumber(i + 1)
                    .setType(type)
                    .setLabel(Label.LABEL_OPTIONAL)
                    .setProto3Optional(true)
                    .setOneofIndex(i);
            message.addOneofDecl(OneofDescriptorProto.newBuilder()
                    .setName("_" + schema.field(i).name()));
            message.addField(type == Type.TYPE_MESSAGE ? field.setTypeName(".google.protobuf.Timestamp") : field);
        }
        return Base64.getEncoder()
                .encodeToString(FileDescriptorSet.newBuilder()
                        .addFile(FileDescriptorProto.newBuilder()
                                .setName("row.proto")
                                .setSyntax("proto3")
                                .addDependency("google/protobuf/timestamp.proto")
                                .addMessageType(message))
                        .build()
                        .toByteArray());
    }

    /**
     * Decodes a few records, some of them damaged.
     *
     * @param sending is told what the next record is before it is decoded
     * @param read takes batches
     */
    void run(Random random, BiFunction<String, byte[], byte[]> sending, Consumer<Batch> read, Consumer<String> told) {
        Case chosen = cases.get(random.nextInt(cases.size()));
        String packing = PACKINGS.get(random.nextInt(PACKINGS.size()));
        Map<String, String> options = new HashMap<>(chosen.options());
        options.put("compression", packing);
        RecordFormat format = chosen.factory().create(chosen.schema(), new Options(options));
        List<Integer> columns =
                new ArrayList<>(IntStream.range(0, chosen.schema().size())
                        .filter(i -> random.nextInt(4) > 0)
                        .boxed()
                        .toList());
        try (BufferAllocator own =
                        allocator.newChildAllocator("case", 0, Long.MAX_VALUE); // which must be empty in the end
                TextBuffer bytes = new TextBuffer(own, 64);
                Context context = new Context(own, told);
                RecordDecoder decoder = format.decoder(columns, context)) {
            EncodedRecords records = new EncodedRecords();
            List<byte[]> valid = chosen.records().get(packing);
            int from = 0;
            for (int n = 1 + random.nextInt(MOST_RECORDS); n > 0; n--) {
                byte[] record = valid.get(random.nextInt(valid.size()));
                bytes.append(
                        random.nextInt(3) == 0
                                ? record
                                : sending.apply(
                                        "record " + chosen.name() + " " + packing,
                                        damaged(record, chosen.name(), random)));
                records.add(from, (int) bytes.length(), n);
                from = (int) bytes.length();
            }
            Memory.putLong(bytes.room(EncodedRecords.SLACK_BYTES), 0);
            records.place(bytes.address(), from);
            try (DecodedRows rows = context.decoded(decoder, records)) {
                Schema schema = chosen.schema().select(columns);
                read.accept(Batch.view(
                        schema, rows.columns().toArray(FieldVector[]::new), rows.rows(), Optional.empty(), List.of()));
            }
        }
    }

    private static byte[] damaged(byte[] record, String format, Random random) {
        Layout layout = new Layout(record);
        boolean isText =
                format.equals("json") || format.equals("csv") || format.equals("senml") || format.equals("text");
        if (isText) {
            return layout.text().damaged(random);
        }
        for (int at = 0; at < record.length; at++) {
            layout.number(at, 1, ByteOrder.BIG_ENDIAN);
        }
        return layout.number(1, 4, ByteOrder.BIG_ENDIAN).damaged(random);
    }

    private record Context(BufferAllocator allocator, Consumer<String> told, Semaphore woken)
            implements DecoderContext, AutoCloseable {
        Context(BufferAllocator allocator, Consumer<String> told) {
            this(allocator, told, new Semaphore(0));
        }

        DecodedRows decoded(RecordDecoder decoder, EncodedRecords records) {
            for (int tries = 0; tries < 100; tries++) {
                Optional<DecodedRows> rows = decoder.decode(records);
                if (rows.isPresent()) {
                    return rows.get();
                }
                try {
                    woken.tryAcquire(1, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            throw new AssertionError("it waits for " + decoder.waitsFor());
        }

        @Override
        public Clock clock() {
            return Clock.system();
        }

        @Override
        public void reject(int record, String column, MillraceException reason) {
            told.accept(reason.getMessage());
            if (reason.fault() != MillraceException.Fault.USER) {
                throw new AssertionError("not the record's fault", reason);
            }
        }

        @Override
        public void note(String text) {
            told.accept(text);
        }

        @Override
        public void wakeUp() {
            woken.release();
        }

        @Override
        public void close() {}
    }

    @Override
    public void close() {
        registry.close();
    }
}
