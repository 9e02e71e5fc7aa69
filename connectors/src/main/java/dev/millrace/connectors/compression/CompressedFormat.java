package dev.millrace.connectors.compression;

import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.List;

/** Packed values of a format. */
record CompressedFormat(RecordFormat unpacked, Compression compression, long mostBytes) implements RecordFormat {
    @Override
    public Schema schema() {
        return unpacked.schema();
    }

    @Override
    public RecordDecoder decoder(List<Integer> columns, DecoderContext context) {
        return new DecompressingDecoder(this, columns, context);
    }

    @Override
    public int mostRecords() {
        return unpacked.mostRecords();
    }
}
