package dev.millrace.connectors.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
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
 * Messages into declared columns.
 *
 * @param formats of the columns' dates and times, where they come as numbers or texts
 * @param registry that knows the types of messages; without one, all are of the given type
 * @param message type, where a file or an option has it
 * @param name of the type that messages must have, where one is asked for
 */
record ProtobufRecordFormat(
        Schema schema,
        List<Optional<TimestampFormat>> formats,
        Optional<SchemaRegistry> registry,
        Optional<Descriptor> message,
        Optional<String> name)
        implements RecordFormat {
    @Override
    public RecordDecoder decoder(List<Integer> requested, DecoderContext context) {
        DecodedColumns columns = new DecodedColumns(schema, formats, requested, context.allocator());
        return new RecordwiseDecoder(columns, new ProtobufReading(this, columns, context), context);
    }
}
