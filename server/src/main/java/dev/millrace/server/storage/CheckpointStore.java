package dev.millrace.server.storage;

import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.SectionContents;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.manifest.Checkpoint;
import dev.millrace.storage.manifest.Manifest;
import dev.millrace.storage.manifest.ManifestImage;
import dev.millrace.storage.snapshot.SnapshotFile;
import dev.millrace.storage.snapshot.SnapshotWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The checkpoints of a data directory: the newest, and the next, which takes its place as a whole. For one thread at a time; who writes
 * holds the lock that the journal has for it.
 *
 * <p>A checkpoint is a snapshot ({@link dev.millrace.storage.snapshot}) with the engine's sections and {@link CheckpointCatalog}'s, which
 * names sections of earlier snapshots that have not changed since; these files are behind it in the manifest, and stay until no section
 * of them is named. A file of whose bytes most are of the past is not gone on with, nor are more than {@value #MOST_FILES}: then what is still
 * of use in it is written anew. The manifest ({@link dev.millrace.storage.manifest}) has the number of the last record of the log of rows that is in it.
 */
public final class CheckpointStore {
    private static final int MOST_FILES = 16; // of earlier checkpoints
    private static final long LITTLE_BYTES = 1 << 20; // of a file's past, which nobody minds

    private final Optional<Disk> disk;
    private final Optional<Manifest> manifest;
    private Map<String, Place> places =
            Map.of(); // of the newest checkpoint's sections, where this process knows what is in them

    /** Where a section is that need not be written again while it has these contents. */
    private record Place(SectionContents contents, SnapshotFile file, long bytes) {}

    private CheckpointStore(Optional<Disk> disk) {
        this.disk = disk;
        this.manifest = disk.map(Manifest::open);
    }

    /**
     * Opens a directory of checkpoints; without one nothing is there, nor can be written.
     *
     * @throws dev.millrace.error.MillraceException XX001 if files are missing or damaged, F0000 if they are of a later version; 53100 or 58030
     */
    public static CheckpointStore open(Optional<Disk> directory) {
        return new CheckpointStore(directory);
    }

    /**
     * The newest checkpoint, which the caller closes; none before there is one.
     *
     * @throws dev.millrace.error.MillraceException XX001 if it is damaged
     */
    public Optional<SavedCheckpoint> newest() {
        return manifest.map(Manifest::newest)
                .filter(checkpoint -> checkpoint.number() > 0)
                .map(checkpoint -> SavedCheckpoint.open(disk.orElseThrow(), checkpoint));
    }

    /** The newest checkpoint, to be copied. There must be a directory. To be closed. */
    public ManifestImage image() {
        return manifest.orElseThrow().image();
    }

    /** Begins the next checkpoint. There must be a directory. */
    public Writing begin() {
        return new Writing(disk.orElseThrow(), manifest.orElseThrow());
    }

    /** The files of the newest checkpoint of which another may go on using sections. */
    private Set<SnapshotFile> filesOfUse() {
        Map<SnapshotFile, Long> used = new HashMap<>();
        places.values().forEach(place -> used.merge(place.file(), place.bytes(), Long::sum));
        return used.entrySet().stream()
                .filter(file -> file.getKey().bytes() - file.getValue() <= Math.max(file.getValue(), LITTLE_BYTES))
                .sorted(Map.Entry.<SnapshotFile, Long>comparingByValue().reversed())
                .limit(MOST_FILES)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    /** A checkpoint under way: nothing of it is left unless it was published. For one thread. */
    public final class Writing implements CheckpointWriter, AutoCloseable {
        private final Manifest manifest;
        private final SnapshotWriter file;
        private final Set<SnapshotFile> ofUse = filesOfUse();
        private final Map<String, Place> kept = new TreeMap<>();
        private final Map<String, SectionContents> known = new HashMap<>(); // of sections that are written
        private final Map<String, Long> bytes = new HashMap<>(); // likewise
        private String section = "";

        private Writing(Disk disk, Manifest manifest) {
            this.manifest = manifest;
            this.file = SnapshotWriter.create(disk, manifest.newFileName());
        }

        @Override
        public boolean has(SectionContents contents) {
            Place place = places.get(contents.section());
            return place != null && place.contents().equals(contents) && ofUse.contains(place.file());
        }

        @Override
        public boolean keep(SectionContents contents) {
            if (has(contents)) {
                kept.put(contents.section(), Objects.requireNonNull(places.get(contents.section())));
                return true;
            }
            known.put(contents.section(), contents);
            return false;
        }

        @Override
        public void begin(String newSection) {
            section = newSection;
            file.section(newSection);
        }

        @Override
        public void write(ByteBuffer more) {
            bytes.merge(section, (long) more.remaining(), Long::sum);
            file.write(more);
        }

        /**
         * Ends the checkpoint, and has it take the place of the one before; when this returns, it lasts.
         *
         * @param logNumber of the last record of the log of rows that is in it
         * @return the length of its files in bytes
         * @throws dev.millrace.error.MillraceException 53100 or 58030: then the one before counts
         */
        public long publish(long logNumber, CheckpointCatalog catalog) {
            Map<String, String> files = new TreeMap<>();
            kept.forEach((name, place) -> files.put(name, place.file().name()));
            file.section(CheckpointCatalog.SECTION);
            file.write(ByteBuffer.wrap(catalog.keeping(files).write().getBytes(StandardCharsets.UTF_8)));
            SnapshotFile own = file.finish();
            List<SnapshotFile> all = new ArrayList<>(List.of(own));
            kept.values().stream().map(Place::file).distinct().forEach(all::add);
            Checkpoint published = manifest.publish(logNumber, all);
            Map<String, Place> next = new HashMap<>(kept);
            bytes.forEach((name, length) -> {
                if (known.containsKey(name)) {
                    next.put(name, new Place(known.get(name), own, length));
                }
            });
            places = next;
            return published.files().stream().mapToLong(SnapshotFile::bytes).sum();
        }

        @Override
        public void close() {
            file.close();
        }
    }
}
