package dev.millrace.connectors.directory;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The files of one sink: those that are being written, at most one in each directory, those that are complete and hidden, and none of those that are shown. Owned
 * by one thread.
 */
final class DirectoryFiles implements AutoCloseable {
    private static final int MOST_OPEN = 64;
    private static final long MOST_HELD_BYTES =
            Math.max(16L << 20, Runtime.getRuntime().maxMemory() / 8);

    /** When a file is complete: beyond so many bytes, or at so great an age, 0 for at once. */
    record Rolling(long bytes, long nanos) {}

    private record Open(PartFile file, long number, long sinceNanos) {}

    private final Path directory;
    private final boolean flat;
    private final PartName names;
    private final PartFormat format;
    private final Rolling rolling;
    private final Clock clock;
    private final Map<String, Open> open = new LinkedHashMap<>(16, 0.75f, true); // by their places, the last used last
    private final List<PartEntry> complete = new ArrayList<>();
    private final Set<String> known = new HashSet<>(); // places that are there
    private final Set<String> changed = new LinkedHashSet<>(); // places with names that the disk may not have
    private long lastNumber;

    /**
     * @param flat whether files of all places are in the directory itself, as they are only taken somewhere else from there
     * @param format closed with this
     */
    DirectoryFiles(Path directory, boolean flat, PartName names, PartFormat format, Rolling rolling, Clock clock) {
        this.directory = directory;
        this.flat = flat;
        this.names = names;
        this.format = format;
        this.rolling = rolling;
        this.clock = clock;
    }

    private Path at(String place) {
        return flat || place.isEmpty() ? directory : directory.resolve(place);
    }

    private Path hidden(String place, long number) {
        return at(place).resolve(names.hidden(number));
    }

    /** Where a file is that is not shown. */
    Path hidden(PartEntry entry) {
        return hidden(entry.place(), entry.number());
    }

    /** Goes on from what a checkpoint had, and removes what came later. */
    void recover(PartEntry.Token token) {
        lastNumber = token.lastNumber();
        Set<Long> kept = new HashSet<>();
        token.entries().forEach(entry -> kept.add(entry.number()));
        removeOthers(kept);
        for (PartEntry entry : token.entries()) {
            if (entry.complete()) {
                complete.add(entry);
            } else {
                Path file = hidden(entry.place(), entry.number());
                require(entry, file);
                open.put(entry.place(), new Open(format.open(file, entry.bytes()), entry.number(), clock.nanoTime()));
                known.add(entry.place());
            }
        }
    }

    private void require(PartEntry entry, Path file) {
        try {
            long size = Files.size(file);
            if (size < entry.bytes()) {
                throw MillraceException.external(
                        SqlState.DATA_CORRUPTED,
                        "\"" + file + "\" has " + size + " bytes, and had " + entry.bytes() + " at the checkpoint");
            }
        } catch (IOException e) {
            throw FileErrors.opening(file, "for writing", e);
        }
    }

    private void removeOthers(Set<Long> kept) {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            List<Path> old = all.filter(file -> {
                        OptionalLong number = names.number(file);
                        return number.isPresent() && !kept.contains(number.getAsLong());
                    })
                    .toList();
            for (Path file : old) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw FileErrors.opening(directory, "for writing", e);
        } catch (UncheckedIOException e) {
            throw FileErrors.opening(directory, "for writing", new IOException(e.getMessage()));
        }
    }

    void write(String place, Batch batch, int[] rows, int count) {
        Open file = open.get(place);
        if (file == null) {
            if (open.size() >= MOST_OPEN) {
                finish(open.keySet().iterator().next());
            }
            make(place);
            long number = ++lastNumber;
            file = new Open(format.open(hidden(place, number), 0), number, clock.nanoTime());
            open.put(place, file);
            changed.add(place);
        }
        file.file().write(batch, rows, count);
    }

    private void make(String place) {
        if (known.add(place)) {
            Path path = at(place);
            try {
                Files.createDirectories(path);
                force(directory);
                Path above = directory;
                for (Path name : directory.relativize(path)) {
                    above = above.resolve(name);
                    force(above);
                }
            } catch (IOException e) {
                throw FileErrors.opening(path, "for writing", e);
            }
        }
    }

    /** Completes files that are large enough; between batches. */
    void roll() {
        finishLarge();
        long held = open.values().stream()
                .mapToLong(each -> each.file().heldBytes())
                .sum();
        while (held > MOST_HELD_BYTES && !open.isEmpty()) {
            Map.Entry<String, Open> largest = open.entrySet().stream()
                    .max((a, b) -> Long.compare(
                            a.getValue().file().heldBytes(), b.getValue().file().heldBytes()))
                    .orElseThrow();
            held -= largest.getValue().file().heldBytes();
            finish(largest.getKey());
        }
    }

    /** The same, and those that are old enough, where no checkpoint says when. */
    void rollByTime() {
        roll();
        if (rolling.nanos() > 0) {
            finishOld(false);
        }
    }

    private void finishOld(boolean all) {
        long now = clock.nanoTime();
        List<String> due = open.entrySet().stream()
                .filter(each -> all || now - each.getValue().sinceNanos() >= rolling.nanos())
                .map(Map.Entry::getKey)
                .toList();
        due.forEach(this::finish);
    }

    private void finishLarge() {
        List<String> due = open.entrySet().stream()
                .filter(each -> each.getValue().file().bytes() >= rolling.bytes())
                .map(Map.Entry::getKey)
                .toList();
        due.forEach(this::finish);
    }

    private void finish(String place) {
        Open file = Objects.requireNonNull(open.get(place));
        try (PartFile ends = file.file()) {
            complete.add(new PartEntry(place, file.number(), ends.finish(), true));
        } finally {
            open.remove(place);
        }
    }

    /** Completes what is due, and has the disk keep all there is. */
    PartEntry.Token prepare() {
        finishLarge();
        finishOld(!format.goesOn());
        List<PartEntry> all = new ArrayList<>(complete);
        open.forEach((place, file) ->
                all.add(new PartEntry(place, file.number(), file.file().force(), false)));
        forceChanged();
        return new PartEntry.Token(lastNumber, all);
    }

    /** Completes all files. */
    void finishAll() {
        List.copyOf(open.keySet()).forEach(this::finish);
        forceChanged();
    }

    private void forceChanged() {
        for (String place : changed) {
            try {
                force(at(place));
            } catch (IOException e) {
                throw FileErrors.writing(at(place), e);
            }
        }
        changed.clear();
    }

    static void force(Path of) throws IOException {
        try (FileChannel channel = FileChannel.open(of, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** How many files are complete and hidden. */
    int complete() {
        return complete.size();
    }

    /** Gives the first so many of those to the caller: they are none of this any more. */
    List<PartEntry> take(int count) {
        List<PartEntry> taken = complete.subList(0, count);
        List<PartEntry> all = List.copyOf(taken);
        taken.clear();
        return all;
    }

    /** Bytes of files that are not shown, about. */
    long bytes() {
        long all = 0;
        for (PartEntry entry : complete) {
            all += entry.bytes();
        }
        for (Open each : open.values()) {
            all += each.file().bytes();
        }
        return all;
    }

    /** Gives the first so many of those their names, on disk when this returns; returns how many. One that was shown, and is gone again, is somebody else's. */
    int show(int count) {
        for (PartEntry entry : complete.subList(0, count)) {
            Path file = hidden(entry.place(), entry.number());
            try {
                Files.move(
                        file, at(entry.place()).resolve(names.shown(entry.number())), StandardCopyOption.ATOMIC_MOVE);
                changed.add(entry.place());
            } catch (NoSuchFileException e) {
                continue; // before a crash
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            }
        }
        forceChanged();
        complete.subList(0, count).clear();
        return count;
    }

    /** The same of all. */
    void show() {
        show(complete.size());
    }

    /** Removes what is not shown. */
    void discard() {
        List<AutoCloseable> all = new ArrayList<>();
        open.values().forEach(each -> all.add(each.file()));
        open.forEach((place, each) -> all.add(() -> Files.deleteIfExists(hidden(place, each.number()))));
        complete.forEach(each -> all.add(() -> Files.deleteIfExists(hidden(each.place(), each.number()))));
        open.clear();
        complete.clear();
        Closing.all(all);
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        open.values().forEach(each -> all.add(each.file()));
        open.clear();
        all.add(format);
        Closing.all(all);
    }
}
