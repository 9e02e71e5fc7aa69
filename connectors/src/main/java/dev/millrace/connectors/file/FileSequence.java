package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.file.FileHeads.Head;
import dev.millrace.connectors.input.FileFormat;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;

/** Reads whole files one after another, each a part of its own, in the order of their first event times. */
final class FileSequence implements SourceReader {
    /** Files without a row that one call goes through. */
    private static final int MOST_FILES = 16;

    private final FileFormat format;
    private final ScanRequest request;
    private final SourceContext context;
    private final Queue<Head> waiting;
    private final double totalBytes;

    private Optional<SourceReader> current = Optional.empty();
    private Part part = Part.WHOLE;
    private double currentBytes;
    private double doneBytes;
    private boolean closed;

    /** @param heads in the order in which to read them */
    FileSequence(FileFormat format, List<Head> heads, ScanRequest request, SourceContext context) {
        this.format = format;
        this.request = new ScanRequest(request.columns(), request.predicates(), 1);
        this.context = context;
        this.waiting = new ArrayDeque<>(heads);
        this.totalBytes = heads.stream().mapToDouble(head -> bytes(head.file())).sum();
    }

    /** Readers that share the files, as many as are asked for at most. */
    static List<SourceReader> share(FileFormat format, List<Head> heads, ScanRequest request, SourceContext context) {
        int count = Math.max(1, Math.min(request.parallelism(), heads.size()));
        List<SourceReader> readers = new ArrayList<>();
        for (int reader = 0; reader < count; reader++) {
            List<Head> own = new ArrayList<>();
            for (int file = reader; file < heads.size(); file += count) {
                own.add(heads.get(file));
            }
            readers.add(new FileSequence(format, own, request, context));
        }
        return readers;
    }

    @Override
    public Optional<Batch> poll() {
        for (int files = 0; files < MOST_FILES && !isFinished(); files++) {
            if (current.isEmpty()) {
                open(waiting.remove());
            }
            Optional<Batch> batch = current.get().poll();
            if (batch.isPresent() || !current.get().isFinished()) {
                return batch;
            }
            doneBytes += currentBytes;
            closeCurrent();
        }
        return Optional.empty();
    }

    private void open(Head head) {
        current =
                Optional.of(format.open(List.of(head.file()), request, context).get(0));
        currentBytes = bytes(head.file());
        part = new Part(
                part.number() + 1,
                head.firstMicros() == Part.NONE ? Part.UNKNOWN : head.firstMicros(),
                waiting.isEmpty() ? Part.NONE : waiting.element().firstMicros());
    }

    private static double bytes(Path file) {
        try {
            return Files.size(file);
        } catch (java.io.IOException e) {
            return 0; // opening it will tell
        }
    }

    @Override
    public Part part() {
        return part;
    }

    @Override
    public boolean isFinished() {
        return closed || current.isEmpty() && waiting.isEmpty();
    }

    @Override
    public long retryAfterMicros() {
        return current.isPresent() ? current.get().retryAfterMicros() : 0;
    }

    @Override
    public double progress() {
        if (isFinished()) {
            return 1;
        }
        double read = current.isPresent() ? Math.max(0, current.get().progress()) * currentBytes : 0;
        return totalBytes == 0 ? -1 : Math.min(1, (doneBytes + read) / totalBytes);
    }

    private void closeCurrent() {
        current.ifPresent(SourceReader::close);
        current = Optional.empty();
    }

    @Override
    public void close() {
        closed = true;
        waiting.clear();
        closeCurrent();
    }
}
