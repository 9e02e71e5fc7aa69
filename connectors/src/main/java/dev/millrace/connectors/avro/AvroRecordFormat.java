package dev.millrace.connectors.avro;

import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.RecordwiseDecoder;
import dev.millrace.connectors.registry.SchemaRegistry;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.text.TimestampFormat;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/**
 * Avro into declared columns.
 *
 * @param formats of the columns' dates and times, where they come as numbers or texts
 * @param registry that knows the schemas that records were written with; without one, all are written with the reader's
 * @param reader schema whose fields the columns are; without one, each writer's is
 */
record AvroRecordFormat(
        Schema schema,
        List<Optional<TimestampFormat>> formats,
        Optional<SchemaRegistry> registry,
        Optional<org.apache.avro.Schema> reader)
        implements RecordFormat {
    @Override
    public RecordDecoder decoder(List<Integer> requested, DecoderContext context) {
        DecodedColumns columns = new DecodedColumns(schema, formats, requested, context.allocator());
        try {
            return new RecordwiseDecoder(columns, new AvroReading(this, columns, context), context);
        } catch (RuntimeException | Error e) {
            columns.close();
            throw e;
        }
    }
}
