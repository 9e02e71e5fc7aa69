package dev.millrace.connectors.file;

import dev.millrace.batch.Closing;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePaths;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Files, from the first row for every reader.
 *
 * @param follow whether to go on when files grow
 * @param guessed what was found in files together with the columns; empty where these were declared
 * @param order of files that are not followed
 * @param pace empty when rows come as fast as they can be read
 */
record FileSource(
        Schema schema,
        FilePaths paths,
        FileFormat format,
        boolean follow,
        Order order,
        Optional<Pace> pace,
        Optional<Source.Assumptions> guessed)
        implements Source {

    /** In which order files are read. */
    enum Order {
        /** Where event time counts, in that of their first rows, each judged late by itself; else in any, by several readers. */
        TIME,
        /** By their names, one after the other by one reader, as if they were one file. */
        NAME
    }

    /** Rows in the rhythm of a column, so many times as fast as it says. */
    record Pace(int column, double factor) {}

    @Override
    public boolean isInferred() {
        return guessed.isPresent();
    }

    @Override
    public Source.Assumptions assumptions() {
        return guessed.orElse(Source.Assumptions.NONE);
    }

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
        return pace.isEmpty() ? read(request, context) : paced(request, context, all -> read(all, context), List.of());
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        if (pace.isEmpty()) {
            return goOn(request, positions, context);
        }
        List<PacedReader.Place> places =
                positions.stream().map(PacedReader.Place::of).toList();
        return paced(
                request,
                context,
                all -> goOn(all, places.stream().map(PacedReader.Place::inside).toList(), context),
                places.stream().map(PacedReader.Place::given).toList());
    }

    private List<SourceReader> goOn(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        List<SourceReader> readers = new ArrayList<>();
        try {
            for (SourcePosition position : positions) {
                readers.add(
                        position.form().equals(FileSequence.FORM)
                                ? FileSequence.reopen(format, position, request, context)
                                : format.reopen(position, UnaryOperator.identity(), request, context));
            }
            return readers;
        } catch (RuntimeException | Error e) {
            Closing.all(readers);
            throw e;
        }
    }

    /** @param given how many of the next rows each reader gave before; none if all begin */
    private List<SourceReader> paced(
            ScanRequest request,
            SourceContext context,
            Function<ScanRequest, List<SourceReader>> read,
            List<Integer> given) {
        int column = pace.orElseThrow().column();
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
        for (SourceReader reader : read.apply(withColumns(request, columns))) {
            PacedReader one = new PacedReader(
                    reader, place, hidden, pace.get().factor(), context.clock(), context.allocator(), start);
            one.passOver(given.isEmpty() ? 0 : given.get(paced.size()));
            paced.add(one);
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
        if (order == Order.NAME) {
            ScanRequest ofOne = new ScanRequest(request.columns(), request.predicates(), 1);
            return List.copyOf(format.open(files, ofOne, context));
        }
        if (request.eventTime().isEmpty()) {
            return List.copyOf(format.open(files, request, context));
        }
        if (files.size() == 1) { // whole, since what is late in its middle depends on its beginning
            return List.copyOf(
                    format.open(files, new ScanRequest(request.columns(), request.predicates(), 1), context));
        }
        FileHeads heads = new FileHeads(format, request.eventTime().get(), context);
        return FileSequence.share(format, heads.sorted(files), request, context);
    }
}
