package dev.millrace.connectors.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import dev.millrace.batch.Closing;
import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.RecordwiseDecoder;
import dev.millrace.connectors.registry.SchemaChanges;
import dev.millrace.connectors.registry.SchemaFrame;
import dev.millrace.connectors.registry.SchemaLookup;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.text.TextBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.arrow.memory.BufferAllocator;

/** Reads messages by their types. Owned by one thread, but for what it waits for. */
final class ProtobufReading implements RecordwiseDecoder.Reading {
    private static final int MOST_NESTED = 32;

    private final ProtobufRecordFormat format;
    private final DecodedColumns columns;
    private final BufferAllocator allocator;
    private final SchemaChanges changes;
    private final Optional<SchemaLookup<FileDescriptor>> lookup;
    private final Map<Descriptor, ProtobufPlan> plans = new HashMap<>();
    private final List<TextBuffer> buffers = new ArrayList<>();
    private final ProtobufInput input = new ProtobufInput();

    ProtobufReading(ProtobufRecordFormat format, DecodedColumns columns, DecoderContext context) {
        this.format = format;
        this.columns = columns;
        this.allocator = context.allocator();
        this.changes = new SchemaChanges(columns.declared(), context);
        this.lookup = format.registry()
                .map(registry -> new SchemaLookup<>(registry, context, ProtobufSchemas::parsed, this::forget));
    }

    @Override
    public Optional<Integer> mostRows(EncodedRecords records) {
        return lookup.isEmpty() || lookup.get().isReady(records) ? Optional.of(records.count()) : Optional.empty();
    }

    @Override
    public void read(EncodedRecords records, int record, DecodedColumns into) {
        input.start(records.address() + records.from(record), records.to(record) - records.from(record));
        ProtobufPlan plan = lookup.isPresent()
                ? framed(records, record, lookup.get())
                : plan(format.message().orElseThrow(), "the schema");
        plan.begin();
        plan.read(input);
        plan.end();
        into.keep();
    }

    /** Which message type of its schema it is stands behind the number of the schema. */
    private ProtobufPlan framed(EncodedRecords records, int record, SchemaLookup<FileDescriptor> schemas) {
        FileDescriptor file = schemas.of(records, record);
        input.pass(SchemaFrame.BYTES);
        Descriptor message = message(file);
        if (format.message()
                        .filter(wanted -> !wanted.getFullName().equals(message.getFullName()))
                        .isPresent()
                || format.name()
                        .filter(wanted -> !wanted.equals(message.getFullName()))
                        .isPresent()) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH, "the record is a message " + message.getFullName());
        }
        return plan(message, "schema " + Integer.toUnsignedString(SchemaFrame.id(records, record)));
    }

    private Descriptor message(FileDescriptor file) {
        long count = zigzag(input.readVarint());
        List<Descriptor> among = file.getMessageTypes();
        if (count == 0) {
            return chosen(among, 0);
        }
        if (count < 0 || count > MOST_NESTED) {
            throw ProtobufInput.damaged(count + " numbers of message types");
        }
        Descriptor message = chosen(among, zigzag(input.readVarint()));
        for (long i = 1; i < count; i++) {
            message = chosen(message.getNestedTypes(), zigzag(input.readVarint()));
        }
        return message;
    }

    private static Descriptor chosen(List<Descriptor> among, long number) {
        if (number < 0 || number >= among.size()) {
            throw ProtobufInput.damaged("message type " + number + " of " + among.size());
        }
        return among.get((int) number);
    }

    private static long zigzag(long bits) {
        return bits >>> 1 ^ -(bits & 1);
    }

    private ProtobufPlan plan(Descriptor message, String schema) {
        ProtobufPlan known = plans.get(message);
        if (known != null) {
            return known;
        }
        ProtobufPlan plan = new ProtobufPlan(message, columns.declared().fields(), columns::column, this::buffer);
        plans.put(message, plan);
        changes.seen(
                schema,
                message.getFields().stream().map(FieldDescriptor::getName).collect(Collectors.toSet()));
        return plan;
    }

    private TextBuffer buffer() {
        TextBuffer buffer = new TextBuffer(allocator, 64);
        buffers.add(buffer);
        return buffer;
    }

    private void forget() {
        plans.clear();
        Closing.all(buffers);
        buffers.clear();
    }

    @Override
    public Optional<String> waitsFor() {
        return lookup.flatMap(SchemaLookup::waitsFor);
    }

    @Override
    public void close() {
        forget();
    }
}
