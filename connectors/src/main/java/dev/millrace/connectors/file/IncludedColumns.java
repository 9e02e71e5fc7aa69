package dev.millrace.connectors.file;

import dev.millrace.connector.Options;
import dev.millrace.connectors.push.MetaColumn;
import dev.millrace.type.DataType;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Where a row is from: INCLUDE FILENAME AS f, LINE AS l, MODIFIED AS m. */
final class IncludedColumns {
    /**
     * What columns are made of.
     *
     * @param file its path, as the path of the source has it
     * @param modified when it was written last, as it was when the row was read
     */
    record Origin(String file, long line, FileTime modified) {}

    private static final List<MetaColumn.Kind> KINDS = List.of(
            kind("filename", DataType.TEXT, Origin::file),
            kind("line", DataType.BIGINT, Origin::line),
            kind("modified", DataType.TIMESTAMPTZ, origin -> origin.modified().to(TimeUnit.MICROSECONDS)));

    private IncludedColumns() {}

    private static MetaColumn.Kind kind(String name, DataType type, Function<Origin, Object> value) {
        return new MetaColumn.Kind(name, type, false, origin -> Optional.of(value.apply((Origin) origin)));
    }

    /** Those that options ask for. */
    static List<MetaColumn> read(Options options) {
        return MetaColumn.read(options, KINDS);
    }
}
