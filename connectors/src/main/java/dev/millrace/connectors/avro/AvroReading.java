package dev.millrace.connectors.avro;

import dev.millrace.batch.Closing;
import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.RecordwiseDecoder;
import dev.millrace.connectors.registry.RegisteredSchema;
import dev.millrace.connectors.registry.SchemaChanges;
import dev.millrace.connectors.registry.SchemaFrame;
import dev.millrace.connectors.registry.SchemaRegistry;
import dev.millrace.error.MillraceException;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** Reads records by the schemas that they were written with. Owned by one thread, but for what it waits for. */
final class AvroReading implements RecordwiseDecoder.Reading {
    private static final int MOST_PROGRAMS = 200;

    private final AvroRecordFormat format;
    private final DecodedColumns columns;
    private final DecoderContext context;
    private final SchemaChanges changes;
    private final Map<Integer, AvroProgram> programs = new HashMap<>(); // by the schema's number
    private final Map<Integer, MillraceException> failures = new HashMap<>(); // of the records under way
    private final Optional<AvroProgram> only; // without a registry

    // Of the record before, most likely that of the next.
    private int lastId;
    private @Nullable AvroProgram last;

    private volatile Optional<String> waitsFor = Optional.empty(); // written by the decoder's thread

    AvroReading(AvroRecordFormat format, DecodedColumns columns, DecoderContext context) {
        this.format = format;
        this.columns = columns;
        this.context = context;
        this.changes = new SchemaChanges(columns.declared(), context);
        this.only = format.registry().isPresent()
                ? Optional.empty()
                : format.reader().map(schema -> new AvroProgram(schema, schema, columns, context.allocator()));
    }

    @Override
    public Optional<Integer> mostRows(EncodedRecords records) {
        if (format.registry().isPresent() && !isReady(records, format.registry().get())) {
            return Optional.empty();
        }
        return Optional.of(records.count());
    }

    /** Whether the schemas of all records are known, or known to be none. All that are not are asked for. */
    private boolean isReady(EncodedRecords records, SchemaRegistry registry) {
        failures.clear();
        if (programs.size() > MOST_PROGRAMS) {
            forget();
        }
        Optional<Integer> missing = Optional.empty();
        int before = -1;
        for (int record = 0; record < records.count(); record++) {
            if (!SchemaFrame.isFramed(records, record)) {
                continue;
            }
            int id = SchemaFrame.id(records, record);
            boolean isKnown = record > 0 && id == before || programs.containsKey(id) || failures.containsKey(id);
            before = id;
            if (!isKnown && !find(id, registry)) {
                missing = Optional.of(id);
            }
        }
        waitsFor = missing.map(id -> "schema " + Integer.toUnsignedString(id) + " of " + registry
                + registry.lastError().map(error -> " (" + error + ")").orElse(""));
        return missing.isEmpty();
    }

    private boolean find(int id, SchemaRegistry registry) {
        try {
            Optional<RegisteredSchema> schema = registry.schema(id, context::wakeUp);
            if (schema.isEmpty()) {
                return false;
            }
            Schema writer = AvroSchemas.parsed(schema.get());
            AvroProgram program = new AvroProgram(writer, format.reader().orElse(writer), columns, context.allocator());
            programs.put(id, program);
            changes.seen("schema " + Integer.toUnsignedString(id), program.fields());
        } catch (MillraceException e) {
            if (e.fault() != MillraceException.Fault.USER) {
                throw e;
            }
            failures.put(id, e); // of each of its records
        }
        return true;
    }

    @Override
    public void read(EncodedRecords records, int record, DecodedColumns into) {
        long address = records.address() + records.from(record);
        int length = records.to(record) - records.from(record);
        if (only.isPresent()) {
            only.get().read(address, length);
        } else {
            if (!SchemaFrame.isFramed(records, record)) {
                throw SchemaFrame.notFramed();
            }
            program(SchemaFrame.id(records, record)).read(address + SchemaFrame.BYTES, length - SchemaFrame.BYTES);
        }
        into.keep();
    }

    private AvroProgram program(int id) {
        AvroProgram known = last;
        if (known != null && id == lastId) {
            return known;
        }
        AvroProgram program = programs.get(id);
        if (program == null) {
            throw failures.get(id).again();
        }
        lastId = id;
        last = program;
        return program;
    }

    @Override
    public Optional<String> waitsFor() {
        return waitsFor;
    }

    private void forget() {
        last = null;
        Closing.all(programs.values());
        programs.clear();
    }

    @Override
    public void close() {
        only.ifPresent(AvroProgram::close);
        forget();
    }
}
