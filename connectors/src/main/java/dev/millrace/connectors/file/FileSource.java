package dev.millrace.connectors.file;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePaths;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Files, from the first row for every reader.
 *
 * @param follow whether to go on when files grow
 * @param pace empty when rows come as fast as they can be read
 */
record FileSource(Schema schema, FilePaths paths, FileFormat format, boolean follow, Optional<Pace> pace)
        implements Source {

    /** Rows in the rhythm of a column, so many times as fast as it says. */
    record Pace(int column, double factor) {}

    @Override
    public boolean bounded() {
        return !follow;
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        if (pace.isEmpty()) {
            return read(request, context);
        }
        int column = pace.get().column();
        int place = request.columns().indexOf(column);
        boolean hidden = place < 0;
        List<Integer> columns = new ArrayList<>(request.columns());
        if (hidden) {
            place = columns.size();
            columns.add(column);
        }
        PacedReader.Start start = new PacedReader.Start();
        List<SourceReader> paced = new ArrayList<>();
        // Rows that nobody wants still beat time, so none is left out before they are paced.
        for (SourceReader reader : read(withColumns(request, columns), context)) {
            paced.add(new PacedReader(
                    reader, place, hidden, pace.get().factor(), context.clock(), context.allocator(), start));
        }
        return paced;
    }

    private static ScanRequest withColumns(ScanRequest request, List<Integer> columns) {
        return new ScanRequest(columns, List.of(), request.parallelism(), request.eventTime());
    }

    private List<SourceReader> read(ScanRequest request, SourceContext context) {
        if (follow) {
            return List.of(new FollowReader(paths, format, request, context));
        }
        List<Path> files = paths.list();
        if (request.eventTime().isEmpty()) {
            return format.open(files, request, context);
        }
        if (files.size() == 1) { // whole, since what is late in its middle depends on its beginning
            return format.open(files, new ScanRequest(request.columns(), request.predicates(), 1), context);
        }
        FileHeads heads = new FileHeads(format, request.eventTime().get(), context);
        return FileSequence.share(format, heads.sorted(files), request, context);
    }
}
