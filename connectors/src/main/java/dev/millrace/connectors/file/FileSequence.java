package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.file.FileHeads.Head;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.kept.FormedBytes;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.UnaryOperator;

/** Reads whole files one after another, each a part of its own, in the order of their first event times. */
final class FileSequence implements SourceReader {
    static final String FORM = "files";
    private static final int VERSION = 1;

    /** Files without a row that one call goes through. */
    private static final int LEAST_HEAD_BYTES = 10; // in a position

    private static final int MOST_FILES = 16;

    private final FileFormat format;
    private final ScanRequest request;
    private final SourceContext context;
    private final Queue<Head> waiting;
    private final double totalBytes;

    private Optional<SourceReader> current = Optional.empty();

    @SuppressWarnings("NullAway.Init") // with the reader
    private Head currentHead;

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

    /** One that goes on where another was. */
    static FileSequence reopen(FileFormat format, SourcePosition position, ScanRequest request, SourceContext context) {
        return position.read(FORM, VERSION, in -> {
            long number = in.readLong();
            Optional<Head> started = in.readBoolean() ? Optional.of(readHead(in)) : Optional.empty();
            Optional<SourcePosition> inside = started.isPresent() ? Optional.of(readPosition(in)) : Optional.empty();
            List<Head> heads = new ArrayList<>();
            for (int left = FormedBytes.count(in, LEAST_HEAD_BYTES); left > 0; left--) {
                heads.add(readHead(in));
            }
            FileSequence reader = new FileSequence(format, heads, request, context);
            reader.part = new Part(number, Part.UNKNOWN, Part.NONE);
            if (inside.isPresent()) {
                reader.goOn(
                        started.get(),
                        number,
                        format.reopen(inside.get(), UnaryOperator.identity(), reader.request, context));
            }
            return reader;
        });
    }

    private static Head readHead(DataInput in) throws IOException {
        return new Head(Path.of(in.readUTF()), in.readLong());
    }

    private static SourcePosition readPosition(DataInputStream in) throws IOException {
        byte[] bytes = new byte[FormedBytes.count(in, 1)];
        in.readFully(bytes);
        return new SourcePosition(bytes);
    }

    /**
     * The number of the part, 8 bytes; whether it is being read, 1 byte: then its path and first event time, the length of the position
     * in it, 4 bytes, and that; how many files wait, 4 bytes, and the path and first event time of each.
     */
    @Override
    public Optional<SourcePosition> position() {
        Optional<SourcePosition> inside = current.flatMap(SourceReader::position);
        if (current.isPresent() && inside.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(SourcePosition.of(FORM, VERSION, out -> {
            out.writeLong(part.number());
            out.writeBoolean(current.isPresent());
            if (inside.isPresent()) {
                writeHead(currentHead, out);
                byte[] bytes = inside.get().bytes();
                out.writeInt(bytes.length);
                out.write(bytes);
            }
            out.writeInt(waiting.size());
            for (Head head : waiting) {
                writeHead(head, out);
            }
        }));
    }

    private static void writeHead(Head head, DataOutput out) throws IOException {
        out.writeUTF(head.file().toString());
        out.writeLong(head.firstMicros());
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
        goOn(
                head,
                part.number() + 1,
                format.open(List.of(head.file()), request, context).get(0));
    }

    private void goOn(Head head, long number, SourceReader reader) {
        current = Optional.of(reader);
        currentHead = head;
        currentBytes = bytes(head.file());
        part = new Part(
                number,
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
