package dev.millrace.connectors.csv;

import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.List;

/** Lines of separated values in records. */
record CsvRecordFormat(List<CsvColumn> columns, CsvDialect dialect) implements RecordFormat {
    CsvRecordFormat {
        columns = List.copyOf(columns);
    }

    @Override
    public Schema schema() {
        return new Schema(columns.stream().map(CsvColumn::field).toList());
    }

    @Override
    public RecordDecoder decoder(List<Integer> requested, DecoderContext context) {
        return new CsvRecordDecoder(columns, dialect, requested, context);
    }
}
