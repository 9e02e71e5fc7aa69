package dev.millrace.connectors.avro;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.RecordwiseDecoder;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.format.EncodedRecords;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Random schemas, random changes of them, random records: what Avro's own reader makes of each is what the columns must have. */
class AvroRandomTest {
    private static final long SEED = Long.getLong("millrace.avro.seed", 20261127L);
    private static final int SCHEMAS = Integer.getInteger("millrace.avro.schemas", 1500);
    private static final int RECORDS = 8;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final Random random = new Random(SEED);
    private int names;

    // ---- schemas ---------------------------------------------------------------------------------------------------

    private Schema type(int depth) {
        int kind = random.nextInt(depth > 2 ? 9 : 14);
        return switch (kind) {
            case 0 -> Schema.create(Schema.Type.BOOLEAN);
            case 1 -> Schema.create(Schema.Type.INT);
            case 2 -> Schema.create(Schema.Type.LONG);
            case 3 -> Schema.create(Schema.Type.FLOAT);
            case 4 -> Schema.create(Schema.Type.DOUBLE);
            case 5 -> Schema.create(Schema.Type.STRING);
            case 6 -> Schema.create(Schema.Type.BYTES);
            case 7 -> Schema.createFixed("f" + names++, null, null, random.nextInt(5));
            case 8 ->
                Schema.createEnum("e" + names++, null, null, List.of("A", "B", "C"), random.nextBoolean() ? "B" : null);
            case 9, 10 -> Schema.createUnion(List.of(Schema.create(Schema.Type.NULL), notUnion(depth + 1)));
            case 11 -> Schema.createArray(type(depth + 1));
            case 12 -> Schema.createMap(type(depth + 1));
            default -> record(depth + 1, 1 + random.nextInt(3));
        };
    }

    private Schema notUnion(int depth) {
        while (true) {
            Schema type = type(depth);
            if (type.getType() != Schema.Type.UNION) {
                return type;
            }
        }
    }

    private Schema record(int depth, int fields) {
        List<Schema.Field> made = new ArrayList<>();
        for (int i = 0; i < fields; i++) {
            made.add(new Schema.Field("c" + names++, type(depth)));
        }
        return Schema.createRecord("r" + names++, null, null, false, made);
    }

    /** A schema that a later reader might have. */
    private Schema changed(Schema of) {
        switch (of.getType()) {
            case INT -> {
                return Schema.create(pick(Schema.Type.INT, Schema.Type.LONG, Schema.Type.FLOAT, Schema.Type.DOUBLE));
            }
            case LONG -> {
                return Schema.create(pick(Schema.Type.LONG, Schema.Type.FLOAT, Schema.Type.DOUBLE));
            }
            case FLOAT -> {
                return Schema.create(pick(Schema.Type.FLOAT, Schema.Type.DOUBLE));
            }
            case STRING -> {
                return Schema.create(pick(Schema.Type.STRING, Schema.Type.STRING, Schema.Type.BYTES));
            }
            case BYTES -> {
                return Schema.create(pick(Schema.Type.BYTES, Schema.Type.BYTES, Schema.Type.STRING));
            }
            case ENUM -> {
                return random.nextBoolean()
                        ? of
                        : Schema.createEnum(of.getName(), null, null, List.of("C", "B"), pick("B", null));
            }
            case UNION -> {
                Schema other = changed(of.getTypes().get(1));
                return random.nextInt(4) == 0
                        ? other
                        : other.getType() == Schema.Type.UNION
                                ? of
                                : Schema.createUnion(List.of(of.getTypes().get(0), other));
            }
            case ARRAY -> {
                return Schema.createArray(changed(of.getElementType()));
            }
            case RECORD -> {
                return changedRecord(of);
            }
            case MAP, FIXED, NULL, BOOLEAN, DOUBLE -> {
                boolean wraps = random.nextInt(4) == 0 && of.getType() != Schema.Type.NULL;
                return wraps ? Schema.createUnion(List.of(Schema.create(Schema.Type.NULL), of)) : of;
            }
        }
        throw new AssertionError();
    }

    private Schema changedRecord(Schema of) {
        List<Schema.Field> fields = new ArrayList<>();
        for (Schema.Field field : of.getFields()) {
            switch (random.nextInt(6)) {
                case 0 -> {} // goes
                case 1 -> {
                    Schema.Field renamed = new Schema.Field("n" + names++, changed(field.schema()));
                    renamed.addAlias(field.name());
                    fields.add(renamed);
                }
                default -> fields.add(new Schema.Field(field.name(), changed(field.schema())));
            }
        }
        if (random.nextBoolean() || fields.isEmpty()) { // a row type has a field
            fields.add(new Schema.Field("d" + names++, Schema.create(Schema.Type.LONG), null, 77L));
            fields.add(new Schema.Field(
                    "d" + names++, Schema.createArray(Schema.create(Schema.Type.STRING)), null, List.of("x", "y")));
        }
        Collections.shuffle(fields, random);
        Schema changed = Schema.createRecord(of.getName(), null, null, false);
        changed.setFields(fields);
        return changed;
    }

    @SafeVarargs
    private <T> T pick(T... of) {
        return of[random.nextInt(of.length)];
    }

    /** Maps as JSONB, whose values are the writer's. */
    private DataType columnType(Schema schema) {
        return switch (schema.getType()) {
            case BOOLEAN -> DataType.BOOLEAN;
            case INT -> DataType.INTEGER;
            case LONG -> DataType.BIGINT;
            case FLOAT ->
                random.nextBoolean() ? DataType.REAL : DataType.DOUBLE; // which has what is lost by way of a float
            case DOUBLE -> DataType.DOUBLE;
            case STRING, ENUM, NULL -> DataType.TEXT;
            case BYTES, FIXED -> DataType.BYTEA;
            case MAP -> DataType.JSONB;
            case UNION -> columnType(schema.getTypes().get(1));
            case ARRAY -> DataType.array(columnType(schema.getElementType()));
            case RECORD ->
                DataType.row(schema.getFields().stream()
                        .map(field -> new Field(field.name(), columnType(field.schema()), true))
                        .toList());
        };
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    private Object value(Schema of) {
        return switch (of.getType()) {
            case NULL -> null;
            case BOOLEAN -> random.nextBoolean();
            case INT -> random.nextInt() >> random.nextInt(32);
            case LONG -> random.nextLong() >> random.nextInt(64);
            case FLOAT -> random.nextInt(10) == 0 ? Float.NaN : random.nextFloat() - 0.5f;
            case DOUBLE -> random.nextGaussian();
            case STRING -> text();
            case BYTES -> ByteBuffer.wrap(text().getBytes(StandardCharsets.UTF_8));
            case FIXED -> {
                byte[] bytes = new byte[of.getFixedSize()];
                random.nextBytes(bytes);
                yield new GenericData.Fixed(of, bytes);
            }
            case ENUM -> new GenericData.EnumSymbol(of, of.getEnumSymbols().get(random.nextInt(3)));
            case UNION -> value(of.getTypes().get(random.nextInt(of.getTypes().size())));
            case ARRAY ->
                IntStream.range(0, random.nextInt(4))
                        .mapToObj(i -> value(of.getElementType()))
                        .collect(Collectors.toList());
            case MAP -> {
                Map<String, Object> map = new LinkedHashMap<>();
                for (int i = random.nextInt(3); i > 0; i--) {
                    map.put("k" + i, value(of.getValueType()));
                }
                yield map;
            }
            case RECORD -> {
                GenericRecord record = new GenericData.Record(of);
                of.getFields().forEach(field -> record.put(field.name(), value(field.schema())));
                yield record;
            }
        };
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(random.nextInt(8) == 0 ? 200 : 12); i > 0; i--) {
            text.appendCodePoint(pick((int) 'a', (int) '"', 0xe9, 0x20ac, 0x1f600, (int) '\\', 10));
        }
        return text.toString();
    }

    /** A value of Avro's as the tests' rows have it. */
    private static Object cell(Object value, Schema schema) {
        if (value == null) {
            return null;
        }
        return switch (schema.getType()) {
            case INT, LONG -> ((Number) value).longValue();
            case FLOAT, DOUBLE -> 0.0 + ((Number) value).doubleValue();
            case STRING, ENUM -> value.toString();
            case BYTES -> bytes(((ByteBuffer) value).array());
            case FIXED -> bytes(((GenericData.Fixed) value).bytes());
            case MAP -> JsonNormalizer.normalize(json(value));
            case UNION -> cell(value, schema.getTypes().get(1));
            case ARRAY ->
                ((List<?>) value)
                        .stream()
                                .map(each -> cell(each, schema.getElementType()))
                                .collect(Collectors.toList());
            case RECORD -> cells((GenericRecord) value, schema.getFields());
            case BOOLEAN -> value;
            case NULL -> null;
        };
    }

    private static List<Object> cells(GenericRecord record, List<Schema.Field> fields) {
        return fields.stream()
                .map(field -> cell(record.get(field.name()), field.schema()))
                .collect(Collectors.toList());
    }

    private static List<Byte> bytes(byte[] of) {
        List<Byte> list = new ArrayList<>();
        for (byte each : of) {
            list.add(each);
        }
        return list;
    }

    private static String json(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> json(entry.getKey().toString()) + ":" + json(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(AvroRandomTest::json).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof GenericRecord record) {
            return record.getSchema().getFields().stream()
                    .map(field -> json(field.name()) + ":" + json(record.get(field.name())))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof ByteBuffer bytes) {
            return "\"\\\\x" + hex(bytes.array()) + "\"";
        }
        if (value instanceof GenericData.Fixed fixed) {
            return "\"\\\\x" + hex(fixed.bytes()) + "\"";
        }
        if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long) {
            return String.valueOf(value);
        }
        if (value instanceof Float || value instanceof Double) {
            return Double.isFinite(((Number) value).doubleValue()) ? value.toString() : "\"NaN\"";
        }
        return "\""
                + value.toString().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
    }

    private static String hex(byte[] bytes) {
        return java.util.HexFormat.of().formatHex(bytes);
    }

    // ---- the comparison --------------------------------------------------------------------------------------------

    @Test
    void columnsHaveWhatAvrosOwnReaderReads() throws IOException {
        int changed = 0;
        int refused = 0;
        for (int n = 0; n < SCHEMAS; n++) {
            Schema writer = record(0, 1 + random.nextInt(6));
            Schema reader = random.nextInt(3) == 0 ? writer : changed(writer);
            List<Field> all = new ArrayList<>(reader.getFields().stream()
                    .map(field -> new Field(field.name(), columnType(field.schema()), true))
                    .toList());
            Collections.shuffle(all, random);
            List<Field> columns = all.subList(0, all.isEmpty() ? 0 : 1 + random.nextInt(all.size()));
            if (columns.isEmpty()) {
                continue;
            }
            changed += writer == reader ? 0 : 1;
            refused += compare(writer, reader, new dev.millrace.type.Schema(columns), "seed " + SEED + ", schema " + n);
        }
        assertEquals(
                true,
                changed > SCHEMAS / 2 && refused > SCHEMAS / 50 && refused < 3 * SCHEMAS,
                changed + " changed, refused " + refused);
    }

    private int compare(Schema writer, Schema reader, dev.millrace.type.Schema columns, String where)
            throws IOException {
        byte[][] records = new byte[RECORDS][];
        List<Row> expected = new ArrayList<>();
        int refused = 0;
        GenericDatumReader<GenericRecord> oracle = new GenericDatumReader<>(writer, reader);
        for (int i = 0; i < RECORDS; i++) {
            records[i] = AvroFormatTest.written(writer, value(writer));
            try {
                // Avro 1.12 takes the promoted elements' size for the written ones' when it looks whether all can be
                // there.
                byte[] padded = Arrays.copyOf(records[i], records[i].length + 4096);
                GenericRecord read = oracle.read(null, DecoderFactory.get().binaryDecoder(padded, null));
                expected.add(new Row(columns.fields().stream()
                        .map(column -> cell(
                                read.get(column.name()),
                                reader.getField(column.name()).schema()))
                        .collect(Collectors.toList())));
            } catch (AvroRuntimeException e) {
                refused++;
                expected.add(null);
            }
        }
        Decoding decoding = new Decoding(memory.allocator());
        List<Integer> all = IntStream.range(0, columns.size()).boxed().toList();
        AvroRecordFormat format = new AvroRecordFormat(
                columns, Collections.nCopies(columns.size(), Optional.empty()), Optional.empty(), Optional.of(writer));
        DecodedColumns decoded = new DecodedColumns(columns, format.formats(), all, memory.allocator());
        try (AvroProgram program = new AvroProgram(writer, reader, decoded, memory.allocator());
                RecordwiseDecoder decoder = new RecordwiseDecoder(decoded, reading(program), decoding)) {
            List<Row> rows = decoding.cells(decoder, columns, records).orElseThrow();
            int next = 0;
            for (int i = 0; i < RECORDS; i++) {
                int record = i;
                boolean isRejected = decoding.rejected.stream().anyMatch(each -> each.startsWith(record + " "));
                if (expected.get(i) != null) {
                    assertEquals(
                            false,
                            isRejected,
                            () -> where + ", record " + record + ": " + decoding.rejected + "\n" + writer + "\n"
                                    + reader);
                    assertEquals(
                            expected.get(i),
                            rows.get(next++),
                            () -> where + ", record " + record + "\n" + writer + "\n" + reader);
                } else if (!isRejected) {
                    next++; // what Avro refuses is in a field that is no column
                }
            }
            assertEquals(rows.size(), next, where);
        }
        return refused;
    }

    private static RecordwiseDecoder.Reading reading(AvroProgram program) {
        return new RecordwiseDecoder.Reading() {
            @Override
            public void read(EncodedRecords records, int record, DecodedColumns into) {
                program.read(records.address() + records.from(record), records.to(record) - records.from(record));
                into.keep();
            }
        };
    }

    @Test
    void damagedRecordsAreRejectedOrRead() {
        for (int n = 0; n < SCHEMAS; n++) {
            Schema writer = record(0, 1 + random.nextInt(6));
            dev.millrace.type.Schema columns = AvroTypes.columns(writer);
            byte[][] records = new byte[RECORDS][];
            for (int i = 0; i < RECORDS; i++) {
                byte[] whole = AvroFormatTest.written(writer, value(writer));
                for (int k = random.nextInt(3); k >= 0 && whole.length > 0; k--) {
                    whole[random.nextInt(whole.length)] = (byte) random.nextInt();
                }
                records[i] = random.nextInt(4) == 0 ? Arrays.copyOf(whole, random.nextInt(whole.length + 1)) : whole;
            }
            Decoding decoding = new Decoding(memory.allocator());
            AvroRecordFormat format = new AvroRecordFormat(
                    columns,
                    Collections.nCopies(columns.size(), Optional.empty()),
                    Optional.empty(),
                    Optional.of(writer));
            int rows = decoding.rows(format, records).size();
            assertEquals(RECORDS, rows + decoding.rejected.size());
        }
    }
}
