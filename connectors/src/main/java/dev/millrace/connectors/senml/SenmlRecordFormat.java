package dev.millrace.connectors.senml;

import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.RecordwiseDecoder;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Packs into columns, each of which is one field. */
record SenmlRecordFormat(Schema schema, List<SenmlField> fields) implements RecordFormat {
    SenmlRecordFormat {
        fields = List.copyOf(fields);
    }

    @Override
    public RecordDecoder decoder(List<Integer> requested, DecoderContext context) {
        DecodedColumns columns = new DecodedColumns(
                schema, Collections.nCopies(schema.size(), Optional.empty()), requested, context.allocator());
        return new RecordwiseDecoder(columns, new SenmlReading(fields, context), context);
    }
}
