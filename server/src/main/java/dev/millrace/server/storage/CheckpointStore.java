package dev.millrace.server.storage;

import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.manifest.Checkpoint;
import dev.millrace.storage.manifest.Manifest;
import dev.millrace.storage.manifest.ManifestImage;
import dev.millrace.storage.snapshot.SnapshotFile;
import dev.millrace.storage.snapshot.SnapshotWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The checkpoints of a data directory: the newest, and the next, which takes its place as a whole. For one thread at a time; who writes
 * holds the lock that the journal has for it.
 *
 * <p>A checkpoint is one snapshot ({@link dev.millrace.storage.snapshot}): the engine's sections and {@link CheckpointCatalog}'s. The
 * manifest ({@link dev.millrace.storage.manifest}) has the number of the last record of the log of rows that is in it.
 */
public final class CheckpointStore {
    private final Optional<Disk> disk;
    private final Optional<Manifest> manifest;

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

    /** A checkpoint under way: nothing of it is left unless it was published. For one thread. */
    public static final class Writing implements CheckpointWriter, AutoCloseable {
        private final Manifest manifest;
        private final SnapshotWriter file;

        private Writing(Disk disk, Manifest manifest) {
            this.manifest = manifest;
            this.file = SnapshotWriter.create(disk, manifest.newFileName());
        }

        @Override
        public void begin(String section) {
            file.section(section);
        }

        @Override
        public void write(ByteBuffer bytes) {
            file.write(bytes);
        }

        /**
         * Ends the checkpoint, and has it take the place of the one before; when this returns, it lasts.
         *
         * @param logNumber of the last record of the log of rows that is in it
         * @return its length in bytes
         * @throws dev.millrace.error.MillraceException 53100 or 58030: then the one before counts
         */
        public long publish(long logNumber, CheckpointCatalog catalog) {
            file.section(CheckpointCatalog.SECTION);
            file.write(ByteBuffer.wrap(catalog.write().getBytes(StandardCharsets.UTF_8)));
            SnapshotFile whole = file.finish();
            Checkpoint published = manifest.publish(logNumber, List.of(whole));
            return published.files().stream().mapToLong(SnapshotFile::bytes).sum();
        }

        @Override
        public void close() {
            file.close();
        }
    }
}
