package dev.millrace.server.device;

import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.List;

/** Records that are segments of sketches, the key of each its device's name. */
record SegmentFormat(EdgeColumns rows, KnownBins bins) implements RecordFormat {
    @Override
    public Schema schema() {
        return rows.schema();
    }

    @Override
    public RecordDecoder decoder(List<Integer> columns, DecoderContext context) {
        return new SegmentDecoder(this, columns, context);
    }

    /** A segment of some bytes may be 65,536 rows. */
    @Override
    public int mostRecords() {
        return 1;
    }
}
