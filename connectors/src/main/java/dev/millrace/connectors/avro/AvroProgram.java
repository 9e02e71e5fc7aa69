package dev.millrace.connectors.avro;

import dev.millrace.batch.Closing;
import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.FieldNames;
import dev.millrace.connectors.column.NestedTarget;
import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Resolver;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;

/**
 * How records of one writer's schema are read into some columns: what Avro's {@code Resolver} says of the two schemas, as steps. A column
 * is the field of its name in the reader's schema (in any case, if none has it exactly); fields that are no column are passed over.
 * Belongs to the columns' thread.
 */
final class AvroProgram implements AutoCloseable {
    private final BufferAllocator allocator;
    private final AvroInput input = new AvroInput();
    private final List<TextBuffer> buffers = new ArrayList<>(); // that steps use
    private final Set<String> fields;
    private final AvroStep step;

    /** @throws MillraceException if no record of the schema can be read */
    AvroProgram(Schema writer, Schema reader, DecodedColumns columns, BufferAllocator allocator) {
        this.allocator = allocator;
        this.fields = names(writer);
        try {
            this.step = top(Resolver.resolve(writer, reader, GenericData.get()), columns);
        } catch (AvroRuntimeException e) {
            close();
            throw unresolved(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private static MillraceException unresolved(String why) {
        return MillraceException.user(
                SqlState.DATATYPE_MISMATCH, "the record's schema does not fit the columns': " + why);
    }

    private static Set<String> names(Schema schema) {
        Schema record = AvroTypes.recordOf(schema);
        Set<String> names = new LinkedHashSet<>();
        if (record.getType() == Schema.Type.RECORD) {
            record.getFields().forEach(field -> names.add(field.name()));
        }
        return names;
    }

    /** The names of the writer's fields. */
    Set<String> fields() {
        return fields;
    }

    /** Puts the values of the record of these bytes. */
    void read(long address, int length) {
        input.start(address, length);
        step.read(input);
        if (!input.isAtEnd()) {
            throw AvroInput.damaged(input.left() + " bytes are behind it");
        }
    }

    // ---- steps -----------------------------------------------------------------------------------------------------

    private AvroStep top(Resolver.Action action, DecodedColumns columns) {
        if (action instanceof Resolver.RecordAdjust record) {
            return fields(record, columns.declared().fields(), columns::column);
        }
        if (action instanceof Resolver.WriterUnion union) {
            return AvroStep.choice(branches(union, branch -> top(branch, columns)));
        }
        if (action instanceof Resolver.ReaderUnion union) {
            return top(union.actualAction, columns);
        }
        if (action.writer.getType() == Schema.Type.NULL) {
            return AvroStep.NOTHING; // a row of NULLs
        }
        if (columns.declared().size() == 1) {
            return into(action, columns.column(0));
        }
        return AvroStep.failing(() -> unresolved("it is no record"));
    }

    private interface OfBranch {
        AvroStep step(Resolver.Action action);
    }

    private static List<AvroStep> branches(Resolver.WriterUnion union, OfBranch of) {
        List<AvroStep> branches = new ArrayList<>();
        for (Resolver.Action branch : union.actions) {
            branches.add(of.step(branch));
        }
        return branches;
    }

    private AvroStep fields(Resolver.RecordAdjust record, List<Field> columns, IntFunction<ValueTarget> targets) {
        Map<String, Integer> columnOf = columnOf(record.reader, columns);
        List<AvroStep> steps = new ArrayList<>();
        int read = 0;
        for (Resolver.Action action : record.fieldActions) {
            Integer column =
                    action.type == Resolver.Action.Type.SKIP ? null : columnOf.get(record.readerOrder[read++].name());
            steps.add(
                    column == null
                            ? AvroStep.passing(AvroSkip.of(action.writer))
                            : into(action, targets.apply(column)));
        }
        for (int i = record.firstDefault; i < record.readerOrder.length; i++) {
            Integer column = columnOf.get(record.readerOrder[i].name());
            if (column != null) {
                Object value = record.defaults[i - record.firstDefault];
                steps.add(given(record.readerOrder[i].schema(), value, targets.apply(column)));
            }
        }
        return AvroStep.sequence(steps);
    }

    /** The column of each field: that of its name, or else one that differs in case and has no field of its own. */
    private static Map<String, Integer> columnOf(Schema record, List<Field> columns) {
        Map<String, Integer> columnOf = new HashMap<>();
        for (int column = 0; column < columns.size(); column++) {
            String name = columns.get(column).name();
            if (record.getField(name) != null) {
                columnOf.put(name, column);
            }
        }
        for (Schema.Field field : record.getFields()) {
            int column = FieldNames.find(columns, field.name());
            if (column >= 0 && !columnOf.containsValue(column)) {
                columnOf.putIfAbsent(field.name(), column);
            }
        }
        return columnOf;
    }

    /** The default of a field that the writer does not have, as it would write it. */
    private AvroStep given(Schema schema, Object value, ValueTarget to) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        try {
            new GenericDatumWriter<>(schema).write(value, encoder);
            encoder.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written", e);
        }
        TextBuffer buffer = buffer();
        buffer.append(bytes.toByteArray());
        buffer.room(8); // readable behind
        return AvroStep.given(buffer, into(Resolver.resolve(schema, schema, GenericData.get()), to));
    }

    private TextBuffer buffer() {
        TextBuffer buffer = new TextBuffer(allocator, 64);
        buffers.add(buffer);
        return buffer;
    }

    private AvroStep into(Resolver.Action action, ValueTarget to) {
        if (action instanceof Resolver.WriterUnion union) {
            boolean isJson = to.type().kind() == DataType.Kind.JSONB;
            return isJson ? json(action.writer, to) : AvroStep.choice(branches(union, branch -> into(branch, to)));
        }
        if (action instanceof Resolver.ReaderUnion union) {
            return into(union.actualAction, to);
        }
        if (action instanceof Resolver.ErrorAction error) {
            return AvroStep.failing(() -> unresolved(error.toString()));
        }
        if (action.writer.getType() == Schema.Type.NULL) {
            return AvroStep.nothing(to); // in JSONB, too, NULL and not null
        }
        if (action instanceof Resolver.RecordAdjust record && to.type().kind() == DataType.Kind.ROW) {
            NestedTarget row = to.nested();
            return AvroStep.row(row, fields(record, to.type().fields(), row::field));
        }
        if (action instanceof Resolver.Container container
                && action.writer.getType() == Schema.Type.ARRAY
                && to.type().kind() == DataType.Kind.ARRAY) {
            NestedTarget array = to.nested();
            return AvroStep.array(array, into(container.elementAction, array.element()));
        }
        boolean isNested = action instanceof Resolver.RecordAdjust || action instanceof Resolver.Container;
        if (isNested || to.type().kind() == DataType.Kind.JSONB && action.writer.getType() != Schema.Type.STRING) {
            return to.type().isText()
                    ? json(action.writer, to)
                    : AvroStep.failing(() -> to.mismatch(
                            "a value of Avro's type " + action.writer.getType().getName()));
        }
        return leaf(action, to);
    }

    private AvroStep json(Schema writer, ValueTarget to) {
        boolean isNull = writer.getType() == Schema.Type.UNION
                && writer.getTypes().stream().anyMatch(branch -> branch.getType() == Schema.Type.NULL);
        if (isNull) {
            List<AvroStep> branches = new ArrayList<>();
            for (Schema branch : writer.getTypes()) {
                branches.add(
                        branch.getType() == Schema.Type.NULL
                                ? AvroStep.nothing(to)
                                : branch.getType() == Schema.Type.STRING ? AvroStep.text(to) : json(branch, to));
            }
            return AvroStep.choice(branches);
        }
        return AvroStep.json(new AvroJson(writer), buffer(), to);
    }

    private static AvroStep leaf(Resolver.Action action, ValueTarget to) {
        Schema writer = action.writer;
        Schema reader = action.reader;
        return switch (writer.getType()) {
            case BOOLEAN -> AvroStep.bool(to);
            case INT, LONG -> AvroStep.number(promoted(reader), writer.getType() == Schema.Type.INT, to);
            case FLOAT -> AvroStep.real(reader.getType() == Schema.Type.DOUBLE, to);
            case DOUBLE -> AvroStep.float8(to);
            case STRING, BYTES -> reader.getType() == Schema.Type.STRING ? AvroStep.text(to) : ofBytes(reader, -1, to);
            case FIXED -> ofBytes(reader, writer.getFixedSize(), to);
            case ENUM -> AvroStep.symbol(symbols((Resolver.EnumAdjust) action), to);
            case NULL, RECORD, ARRAY, MAP, UNION -> throw MillraceException.internal("no leaf: " + writer.getType());
        };
    }

    private static AvroStep.Meaning promoted(Schema reader) {
        return switch (reader.getType()) {
            case FLOAT -> AvroStep.Meaning.FLOAT;
            case DOUBLE -> AvroStep.Meaning.DOUBLE;
            default -> AvroTypes.meaning(reader);
        };
    }

    private static AvroStep ofBytes(Schema reader, int size, ValueTarget to) {
        if (reader.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            return AvroStep.decimal(size, decimal.getScale(), to);
        }
        return AvroTypes.isDuration(reader) ? AvroStep.duration(to) : AvroStep.bytes(size, to);
    }

    /** Of each of the writer's symbols the reader's; empty for none. */
    private static List<String> symbols(Resolver.EnumAdjust action) {
        List<String> symbols = new ArrayList<>();
        for (int adjusted : action.adjustments) {
            symbols.add(adjusted < 0 ? "" : action.reader.getEnumSymbols().get(adjusted));
        }
        return symbols;
    }

    @Override
    public void close() {
        Closing.all(buffers);
        buffers.clear();
    }
}
