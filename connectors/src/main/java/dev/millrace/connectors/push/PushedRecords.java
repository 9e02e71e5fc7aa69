package dev.millrace.connectors.push;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Locale;

/**
 * What records become: rows of a format, and columns of what came with them.
 *
 * @param schema all columns
 */
public record PushedRecords(RecordFormat format, List<MetaColumn> meta, Schema schema) {
    public PushedRecords {
        meta = List.copyOf(meta);
    }

    /**
     * Reads {@code format} with its options, and {@code include.*}.
     *
     * @param connector for messages
     * @param declared must be some: there are no records yet from which columns could be told
     */
    public static PushedRecords read(
            String connector,
            RecordFormats formats,
            String defaultFormat,
            Schema declared,
            Options options,
            List<MetaColumn.Kind> kinds) {
        List<MetaColumn> meta = MetaColumn.read(options, kinds);
        if (declared.size() == 0) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "the columns of a stream of connector " + connector + " must be declared")
                    .withHint("CREATE STREAM s (id BIGINT, name TEXT) WITH (..)");
        }
        String name = options.text("format", defaultFormat).toLowerCase(Locale.ROOT);
        RecordFormat format = formats.named(name).create(declared, options);
        if (format.mostRecords() < Integer.MAX_VALUE) { // what comes together becomes rows together
            throw MillraceException.notAvailableYet("format " + name + " of connector " + connector);
        }
        return new PushedRecords(format, meta, MetaColumn.behind(format.schema(), meta));
    }
}
