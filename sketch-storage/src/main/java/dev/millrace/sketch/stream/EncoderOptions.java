package dev.millrace.sketch.stream;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.form.Limits;

/**
 * How an encoder makes segments.
 *
 * @param segmentRows rows at which a segment closes, 1 to {@link Limits#ROWS}
 * @param segmentTicks event time after which one closes: it holds times from a multiple of it to the next; 0 for by rows only
 * @param keep what it must remain good for
 * @param form its form
 * @param selfContained whether each segment can be read alone, which makes it larger by the schema
 */
public record EncoderOptions(int segmentRows, long segmentTicks, Keep keep, Form form, boolean selfContained) {
    public static final int DEFAULT_ROWS = 1024;

    public EncoderOptions {
        if (segmentRows < 1 || segmentRows > Limits.ROWS || segmentTicks < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "a segment has 1 to " + Limits.ROWS + " rows and a length from 0 on, not " + segmentRows + " and "
                            + segmentTicks);
        }
    }

    /** 1,024 rows, queryable, the smallest form, referring to versions. */
    public static EncoderOptions defaults() {
        return new EncoderOptions(DEFAULT_ROWS, 0, Keep.QUERYABLE, Form.SMALLEST, false);
    }

    public EncoderOptions withSegmentRows(int rows) {
        return new EncoderOptions(rows, segmentTicks, keep, form, selfContained);
    }

    public EncoderOptions withSegmentTicks(long ticks) {
        return new EncoderOptions(segmentRows, ticks, keep, form, selfContained);
    }

    public EncoderOptions withKeep(Keep newKeep) {
        return new EncoderOptions(segmentRows, segmentTicks, newKeep, form, selfContained);
    }

    public EncoderOptions withForm(Form newForm) {
        return new EncoderOptions(segmentRows, segmentTicks, keep, newForm, selfContained);
    }

    public EncoderOptions selfContained(boolean alone) {
        return new EncoderOptions(segmentRows, segmentTicks, keep, form, alone);
    }
}
