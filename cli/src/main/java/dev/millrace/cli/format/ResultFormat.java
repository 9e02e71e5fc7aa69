package dev.millrace.cli.format;

import dev.millrace.type.Schema;
import java.io.IOException;

/** The forms a result can be written in. */
public enum ResultFormat {
    /** As psql aligns it, with the number of rows below. */
    TABLE {
        @Override
        public RowWriter open(Schema schema, Appendable out) {
            return new AlignedWriter(schema, out);
        }
    },
    /** As psql's {@code \x}: a line per value. */
    EXPANDED {
        @Override
        public RowWriter open(Schema schema, Appendable out) {
            return new ExpandedWriter(schema, out);
        }
    },
    /** A header line, then a line per row; NULL is nothing between the commas, the empty text is {@code ""}. */
    CSV {
        @Override
        public RowWriter open(Schema schema, Appendable out) throws IOException {
            return new CsvWriter(schema, out);
        }
    },
    /** One object per row and line; numbers and booleans bare, other values as text in ISO 8601 where they are times. */
    JSON {
        @Override
        public RowWriter open(Schema schema, Appendable out) {
            return new JsonLinesWriter(schema, out);
        }
    };

    /** A writer of rows of this schema; the caller flushes {@code out}. */
    public abstract RowWriter open(Schema schema, Appendable out) throws IOException;
}
