package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePaths;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Reads files for as long as they grow, and new ones that come to match. A file that became shorter or was replaced by
 * another of its name is read from its beginning, after what was written to the old one. Files that were removed are read
 * to their end and forgotten.
 */
final class FollowReader implements SourceReader {
    private static final long LOOK_NANOS = 500_000_000;
    private static final long RETRY_MICROS = 50_000;

    /** A file under its name: what it was when it was opened, and how far it had grown when last looked at. */
    private static final class Tail {
        final SourceReader reader;
        final Object identity;
        long bytes;
        boolean leaving; // replaced or removed: to be closed at its end

        Tail(SourceReader reader, Object identity) {
            this.reader = reader;
            this.identity = identity;
        }
    }

    private final FilePaths paths;
    private final FileFormat format;
    private final ScanRequest request;
    private final SourceContext context;
    private final Map<Path, Tail> tails = new LinkedHashMap<>();
    private long lastLookNanos;
    private boolean looked;

    FollowReader(FilePaths paths, FileFormat format, ScanRequest request, SourceContext context) {
        this.paths = paths;
        this.format = format;
        this.request = request;
        this.context = context;
        look();
    }

    @Override
    public Optional<Batch> poll() {
        if (context.clock().nanoTime() - lastLookNanos >= LOOK_NANOS) {
            look();
        }
        for (Map.Entry<Path, Tail> entry : tails.entrySet()) {
            Tail tail = entry.getValue();
            Optional<Batch> batch = tail.reader.poll();
            if (batch.isPresent()) {
                toBack(entry.getKey(), tail);
                return batch;
            }
            if (tail.leaving) {
                tails.remove(entry.getKey());
                tail.reader.close();
                lastLookNanos -= LOOK_NANOS; // so that what took its name is found at once
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    /** Gives each file its turn. */
    private void toBack(Path file, Tail tail) {
        tails.remove(file);
        tails.put(file, tail);
    }

    private void look() {
        lastLookNanos = context.clock().nanoTime();
        for (Path file : paths.hasPattern() || looked ? presentOrNone() : paths.list()) {
            Optional<BasicFileAttributes> attributes = attributes(file);
            if (attributes.isEmpty()) {
                continue;
            }
            Tail tail = tails.get(file);
            if (tail == null) {
                tail = new Tail(format.follow(file, request, context), identity(file, attributes.get()));
                tails.put(file, tail);
            }
            boolean replaced = !tail.identity.equals(identity(file, attributes.get()));
            tail.leaving |= replaced || attributes.get().size() < tail.bytes;
            tail.bytes = Math.max(tail.bytes, attributes.get().size());
        }
        tails.forEach((file, tail) -> tail.leaving |= !Files.exists(file));
        looked = true;
    }

    private Iterable<Path> presentOrNone() {
        try {
            return paths.listPresent();
        } catch (dev.millrace.error.MillraceException e) {
            return java.util.List.of(); // between a file's removal and its return
        }
    }

    private static Optional<BasicFileAttributes> attributes(Path file) {
        try {
            return Optional.of(Files.readAttributes(file, BasicFileAttributes.class));
        } catch (IOException e) {
            return Optional.empty(); // gone since it was listed
        }
    }

    private static Object identity(Path file, BasicFileAttributes attributes) {
        Object key = attributes.fileKey();
        return key == null ? file : key; // some systems tell none
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public long retryAfterMicros() {
        return tails.values().stream().anyMatch(tail -> tail.leaving) ? 0 : RETRY_MICROS;
    }

    @Override
    public void close() {
        Closing.all(tails.values().stream().map(tail -> tail.reader).toList());
        tails.clear();
    }
}
