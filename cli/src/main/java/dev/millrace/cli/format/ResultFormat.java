package dev.millrace.cli.format;

import dev.millrace.text.TimeStyle;
import dev.millrace.type.Schema;
import java.io.IOException;

/** The forms a result can be written in. */
public enum ResultFormat {
    /** As psql aligns it, with the number of rows below. */
    TABLE {
        @Override
        public RowWriter open(Schema schema, TimeStyle style, Appendable out) {
            return new AlignedWriter(schema, style, out);
        }
    },
    /** As psql's {@code \x}: a line per value. */
    EXPANDED {
        @Override
        public RowWriter open(Schema schema, TimeStyle style, Appendable out) {
            return new ExpandedWriter(schema, style, out);
        }
    },
    /** A header line, then a line per row; NULL is nothing between the commas, the empty text is {@code ""}. */
    CSV {
        @Override
        public RowWriter open(Schema schema, TimeStyle style, Appendable out) throws IOException {
            return new CsvWriter(schema, style, out);
        }
    },
    /** One object per row and line; numbers and booleans bare, other values as text in ISO 8601 where they are times. */
    JSON {
        @Override
        public RowWriter open(Schema schema, TimeStyle style, Appendable out) {
            return new JsonLinesWriter(schema, out);
        }
    };

    /**
     * A writer of rows of this schema; the caller flushes {@code out}.
     *
     * @param style in which dates and times are written, but for JSON, which has one form
     */
    public abstract RowWriter open(Schema schema, TimeStyle style, Appendable out) throws IOException;
}
