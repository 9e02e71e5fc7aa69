package dev.millrace.sketch.segment;

import dev.millrace.sketch.form.SymbolFilter;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.time.Times;

/** Which segments are wanted: what is told early in one may say that the rest need not be decoded. */
public interface SegmentFilter {
    /** Any segment is wanted. */
    SegmentFilter ANY = new SegmentFilter() {
        @Override
        public boolean mayMeet(SketchSchema schema, Times times) {
            return true;
        }

        @Override
        public SymbolFilter ofFeature(SketchSchema schema, int feature) {
            return SymbolFilter.ANY;
        }
    };

    /** Whether a row with one of these times may be wanted. */
    boolean mayMeet(SketchSchema schema, Times times);

    /** Of a feature's values. Segments whose columns are stored together are not asked. */
    SymbolFilter ofFeature(SketchSchema schema, int feature);
}
