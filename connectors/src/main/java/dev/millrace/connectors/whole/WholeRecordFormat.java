package dev.millrace.connectors.whole;

import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.RecordwiseDecoder;
import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.text.TimestampFormat;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/** Records that are the value of the only column. */
record WholeRecordFormat(Schema schema, boolean isText, Optional<TimestampFormat> format) implements RecordFormat {
    @Override
    public RecordDecoder decoder(List<Integer> columns, DecoderContext context) {
        DecodedColumns decoded = new DecodedColumns(schema, List.of(format), columns, context.allocator());
        return new RecordwiseDecoder(decoded, new Value(decoded.column(0), isText), context);
    }

    private record Value(ValueTarget target, boolean isText) implements RecordwiseDecoder.Reading {
        @Override
        public void read(EncodedRecords records, int record, DecodedColumns into) {
            long address = records.address() + records.from(record);
            int length = records.to(record) - records.from(record);
            if (isText) {
                target.putText(address, length);
            } else {
                target.putBytes(address, length);
            }
            into.keep();
        }
    }
}
