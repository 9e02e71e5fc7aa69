package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.EventTime;
import dev.millrace.connector.Part;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.file.FileHeads.Head;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePaths;
import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Reads files for as long as they grow, and new ones that come to match. A file is the same under another name. One that became
 * shorter, was written over, or was replaced by another of its name is read from its beginning, the last after what was written to the
 * old one. Files that were removed are read to their end and forgotten; one that cannot be read is {@linkplain FollowedFile set
 * aside}, and the others go on.
 *
 * <p>Files that are found at one look are read one after the other, each to its end as a {@link Part}, in the order of their first event
 * times; from then on, all together, as they grow.
 */
final class FollowReader implements SourceReader {
    private static final long LOOK_NANOS = 500_000_000;
    private static final long RETRY_MICROS = 50_000;

    /** A file that two looks in a row did not find is gone; one look may fall between a file's two names. */
    private static final int MISSED = 2;

    /** Files that one call asks for rows. */
    private static final int MOST_ASKED = 64;

    /** Files that are open at once; more are, of those that grow, but not of those that are silent. */
    private static final int MOST_OPEN = 256;

    private final FilePaths paths;
    private final FileFormat format;
    private final ScanRequest request;
    private final Optional<EventTime> time;
    private final SourceContext context;
    private final Map<Object, FollowedFile> files = new LinkedHashMap<>(); // by what tells them apart on the disk
    private final Deque<FollowedFile> fresh = new ArrayDeque<>(); // not read to their end yet, in order
    private final Map<FollowedFile, Long> firsts = new LinkedHashMap<>(); // their first event times
    private final Deque<FollowedFile> grown = new ArrayDeque<>(); // the others, in turn
    private Part part = Part.WHOLE;
    private Optional<FollowedFile> partOf = Optional.empty();
    private long lastLookNanos;
    private boolean looked;
    private int silent; // files in a row that had nothing
    private boolean idle; // no file has anything

    FollowReader(FilePaths paths, FileFormat format, ScanRequest request, SourceContext context) {
        this.paths = paths;
        this.format = format;
        this.request = new ScanRequest(request.columns(), request.predicates(), 1);
        this.time = request.eventTime();
        this.context = context;
        look();
    }

    @Override
    public Optional<Batch> poll() {
        if (context.clock().nanoTime() - lastLookNanos >= LOOK_NANOS) {
            look();
        }
        while (!fresh.isEmpty()) {
            FollowedFile file = fresh.element();
            begin(Optional.of(file));
            Optional<Batch> batch = file.poll();
            if (batch.isPresent()) {
                return batch;
            }
            fresh.remove();
            firsts.remove(file);
            grown.add(file);
        }
        idle = false;
        for (int asked = Math.min(MOST_ASKED, grown.size()); asked > 0; asked--) {
            FollowedFile file = grown.remove();
            Optional<Batch> batch;
            try {
                batch = file.poll();
            } finally {
                grown.add(file);
            }
            if (batch.isPresent()) {
                silent = 0;
                begin(Optional.empty());
                return batch;
            }
            silent++;
            if (file.leaving) {
                grown.remove(file);
                files.values().remove(file);
                file.close();
                lastLookNanos -= LOOK_NANOS; // so that what took its name is found at once
                return Optional.empty();
            }
        }
        if (silent >= grown.size()) {
            silent = 0;
            idle = true;
        }
        return Optional.empty();
    }

    /** Rows of a fresh file follow, or of those that grow. */
    private void begin(Optional<FollowedFile> file) {
        if (part != Part.WHOLE && partOf.equals(file)) {
            return;
        }
        partOf = file;
        long first = file.map(one -> firsts.getOrDefault(one, Part.UNKNOWN)).orElse(Part.UNKNOWN);
        long next = Part.NONE;
        if (file.isPresent()) {
            for (FollowedFile other : fresh) {
                if (other != file.get()) {
                    next = firsts.getOrDefault(other, Part.NONE);
                    break;
                }
            }
        }
        part = new Part(part.number() + 1, first == Part.NONE ? Part.UNKNOWN : first, next);
    }

    @Override
    public Part part() {
        return part;
    }

    private void look() {
        lastLookNanos = context.clock().nanoTime();
        Map<Object, Path> found = new LinkedHashMap<>();
        Map<Path, BasicFileAttributes> attributes = new LinkedHashMap<>();
        for (Path file : paths.hasPattern() || looked ? presentOrNone() : paths.list()) {
            try {
                BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
                attributes.put(file, now);
                found.putIfAbsent(FollowedFile.identity(file, now), file);
            } catch (IOException e) {
                continue; // gone since it was listed
            }
        }
        files.forEach((identity, file) -> {
            Path now = found.get(identity);
            if (now != null) {
                file.missed = 0;
                file.renamed(now);
                file.look(Objects.requireNonNull(attributes.get(now)));
            } else {
                file.missed++;
                boolean replaced = attributes.containsKey(file.path());
                file.leaving |= replaced || file.missed >= MISSED;
            }
        });
        List<Path> before = files.values().stream()
                .filter(file -> file.leaving)
                .map(FollowedFile::path)
                .toList();
        Map<Path, Object> added = new LinkedHashMap<>();
        found.forEach((identity, file) -> {
            if (!files.containsKey(identity) && !before.contains(file)) { // what was written to the old one comes first
                added.put(file, identity);
            }
        });
        add(added);
        park();
        looked = true;
    }

    private void add(Map<Path, Object> added) {
        List<Head> heads = time.isPresent() && !added.isEmpty()
                ? new FileHeads(format, time.get(), context).sorted(List.copyOf(added.keySet()))
                : added.keySet().stream()
                        .map(file -> new Head(file, Part.UNKNOWN))
                        .toList();
        for (Head head : heads) {
            Object identity = Objects.requireNonNull(added.get(head.file()));
            FollowedFile file = new FollowedFile(head.file(), identity, paths.hasPattern(), format, request, context);
            files.put(identity, file);
            fresh.add(file);
            if (time.isPresent()) {
                firsts.put(file, head.firstMicros());
            }
        }
    }

    /** Of very many files, closes those that have been silent for longest. */
    private void park() {
        if (files.size() <= MOST_OPEN) {
            return;
        }
        List<FollowedFile> open = new ArrayList<>(grown);
        open.removeIf(file -> !file.isOpen() || file.leaving);
        open.sort(Comparator.comparingLong(FollowedFile::idleSinceNanos));
        for (int excess = open.size() - MOST_OPEN; excess > 0; excess--) {
            open.get(open.size() - MOST_OPEN - excess).park();
        }
    }

    private Iterable<Path> presentOrNone() {
        try {
            return paths.listPresent();
        } catch (MillraceException e) {
            return List.of(); // between a file's removal and its return
        }
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public long retryAfterMicros() {
        return idle ? RETRY_MICROS : 0;
    }

    @Override
    public void close() {
        Closing.all(List.copyOf(files.values()));
        files.clear();
        fresh.clear();
        grown.clear();
    }
}
