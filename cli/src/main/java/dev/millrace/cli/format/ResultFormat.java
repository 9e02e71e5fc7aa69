package dev.millrace.cli.format;

import dev.millrace.text.ZoneClock;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.Optional;

/** The forms a result can be written in. */
public enum ResultFormat {
    /** As psql aligns it, with the number of rows below. */
    TABLE {
        @Override
        public RowWriter open(Schema schema, Optional<ZoneClock> clock, Appendable out) {
            return new AlignedWriter(schema, clock, out);
        }
    },
    /** As psql's {@code \x}: a line per value. */
    EXPANDED {
        @Override
        public RowWriter open(Schema schema, Optional<ZoneClock> clock, Appendable out) {
            return new ExpandedWriter(schema, clock, out);
        }
    },
    /** A header line, then a line per row; NULL is nothing between the commas, the empty text is {@code ""}. */
    CSV {
        @Override
        public RowWriter open(Schema schema, Optional<ZoneClock> clock, Appendable out) throws IOException {
            return new CsvWriter(schema, clock, out);
        }
    },
    /** One object per row and line; numbers and booleans bare, other values as text in ISO 8601 where they are times. */
    JSON {
        @Override
        public RowWriter open(Schema schema, Optional<ZoneClock> clock, Appendable out) {
            return new JsonLinesWriter(schema, out);
        }
    };

    /**
     * A writer of rows of this schema; the caller flushes {@code out}.
     *
     * @param clock of the time zone in which instants are shown; empty for UTC, in which JSON always is
     */
    public abstract RowWriter open(Schema schema, Optional<ZoneClock> clock, Appendable out) throws IOException;
}
