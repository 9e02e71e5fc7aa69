package dev.millrace.connectors.avro;

import dev.millrace.batch.Closing;
import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.RecordwiseDecoder;
import dev.millrace.connectors.registry.RegisteredSchema;
import dev.millrace.connectors.registry.SchemaChanges;
import dev.millrace.connectors.registry.SchemaFrame;
import dev.millrace.connectors.registry.SchemaLookup;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.avro.Schema;

/** Reads records by the schemas that they were written with. Owned by one thread, but for what it waits for. */
final class AvroReading implements RecordwiseDecoder.Reading {
    private final DecodedColumns columns;
    private final BufferAllocator allocator;
    private final Optional<Schema> reader;
    private final SchemaChanges changes;
    private final Optional<SchemaLookup<AvroProgram>> lookup;
    private final List<AvroProgram> programs = new ArrayList<>(); // all that are open; without a registry one

    AvroReading(AvroRecordFormat format, DecodedColumns columns, DecoderContext context) {
        this.columns = columns;
        this.allocator = context.allocator();
        this.reader = format.reader();
        this.changes = new SchemaChanges(columns.declared(), context);
        this.lookup =
                format.registry().map(registry -> new SchemaLookup<>(registry, context, this::made, this::forget));
        if (lookup.isEmpty()) {
            program(reader.orElseThrow());
        }
    }

    private AvroProgram made(RegisteredSchema schema) {
        AvroProgram program = program(AvroSchemas.parsed(schema));
        changes.seen("schema " + Integer.toUnsignedString(schema.id()), program.fields());
        return program;
    }

    private AvroProgram program(Schema writer) {
        AvroProgram program = new AvroProgram(writer, reader.orElse(writer), columns, allocator);
        programs.add(program);
        return program;
    }

    @Override
    public Optional<Integer> mostRows(EncodedRecords records) {
        return lookup.isEmpty() || lookup.get().isReady(records) ? Optional.of(records.count()) : Optional.empty();
    }

    @Override
    public void read(EncodedRecords records, int record, DecodedColumns into) {
        long address = records.address() + records.from(record);
        int length = records.to(record) - records.from(record);
        if (lookup.isEmpty()) {
            programs.get(0).read(address, length);
        } else {
            lookup.get().of(records, record).read(address + SchemaFrame.BYTES, length - SchemaFrame.BYTES);
        }
        into.keep();
    }

    @Override
    public Optional<String> waitsFor() {
        return lookup.flatMap(SchemaLookup::waitsFor);
    }

    private void forget() {
        Closing.all(programs);
        programs.clear();
    }

    @Override
    public void close() {
        forget();
    }
}
