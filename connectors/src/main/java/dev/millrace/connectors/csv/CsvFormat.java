package dev.millrace.connectors.csv;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.connectors.input.FileRows;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** Separated values of a dialect with declared columns. */
public final class CsvFormat implements FileFormat {
    private static final int CHECKED_BYTES = 64 << 10;

    private final List<CsvColumn> columns;
    private final CsvDialect dialect;

    private final boolean onlyAsked;

    public CsvFormat(List<CsvColumn> columns, CsvDialect dialect) {
        this(columns, dialect, false);
    }

    /** @param onlyAsked whether values of columns that are not asked for may be anything */
    public CsvFormat(List<CsvColumn> columns, CsvDialect dialect, boolean onlyAsked) {
        this.onlyAsked = onlyAsked;
        this.columns = List.copyOf(columns);
        this.dialect = dialect;
    }

    @Override
    public void check(Path file) {
        try (BufferAllocator allocator = new RootAllocator();
                ByteWindow window = new ByteWindow(allocator, CHECKED_BYTES);
                FileInput input = FileInput.open(file, dialect.encoding())) {
            window.fill(input, CHECKED_BYTES);
            CsvLayout.read(window, window.isDry(), dialect, columns, input);
        }
    }

    @Override
    public List<FileRows> open(List<Path> files, ScanRequest request, SourceContext context) {
        List<CsvSegment> segments = new ArrayList<>();
        for (Path file : files) {
            segments.addAll(CsvRanges.of(file, columns, dialect, request.parallelism(), files.size(), context));
        }
        return FileFormat.shares(segments, request.parallelism()).stream()
                .<FileRows>map(share -> new CsvReader(columns, request, dialect, share, false, onlyAsked, context))
                .toList();
    }

    @Override
    public FileRows reopen(
            SourcePosition position, UnaryOperator<Path> now, ScanRequest request, SourceContext context) {
        List<CsvSegment> segments = CsvPosition.read(position, now, columns.size());
        return new CsvReader(columns, request, dialect, segments, false, onlyAsked, context);
    }

    @Override
    public FileRows follow(Path file, ScanRequest request, SourceContext context) {
        return new CsvReader(columns, request, dialect, List.of(CsvSegment.whole(file)), true, onlyAsked, context);
    }
}
