package dev.millrace.connectors.json;

import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.List;

/** One JSON object per record. */
record JsonRecordFormat(List<JsonColumn> columns) implements RecordFormat {
    JsonRecordFormat {
        columns = List.copyOf(columns);
    }

    @Override
    public Schema schema() {
        return JsonColumns.relation(columns);
    }

    @Override
    public RecordDecoder decoder(List<Integer> requested, DecoderContext context) {
        return new JsonDecoder(columns, requested, new RowFilter(List.of()), context);
    }
}
