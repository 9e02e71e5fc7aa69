package dev.millrace.storage.manifest;

import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.WholeFile;
import dev.millrace.storage.snapshot.SnapshotFile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * The newest checkpoint of a directory, and the next. For one thread at a time.
 *
 * <pre>{@code
 * Manifest manifest = Manifest.open(disk);
 * restore(manifest.newest());                       // then replay the log behind its logNumber
 * ...
 * try (SnapshotWriter out = SnapshotWriter.create(disk, manifest.newFileName())) {
 *     ...
 *     manifest.publish(logNumber, List.of(out.finish()));
 * }
 * log.forget(logNumber);
 * }</pre>
 */
public final class Manifest {
    static final String NAME = "manifest";
    private static final int MOST_TRIES = 20;
    private static final Pattern OURS = Pattern.compile("checkpoint-\\d{12,18}-\\d{4,9}\\.snapshot");

    private final Disk disk;
    private Checkpoint newest;
    private int filesNamed; // for the next checkpoint
    private final Map<String, Integer> held = new ConcurrentHashMap<>(); // files that images need, and how many do

    private Manifest(Disk disk, Checkpoint newest) {
        this.disk = disk;
        this.newest = newest;
    }

    /**
     * Opens what is there, or begins where nothing is; removes files of checkpoints that do not count.
     *
     * @throws MillraceException XX001 if a file is missing, damaged or of another length; F0000 if it is of a later version; 53100 or 58030
     */
    public static Manifest open(Disk disk) {
        try {
            List<String> names = disk.list();
            if (!names.contains(NAME)) {
                for (String name : names) {
                    if (isOurs(name)) {
                        throw DiskErrors.missing(disk.path(NAME), "there is " + name + " of a checkpoint");
                    }
                }
                WholeFile.write(disk, NAME, ManifestBytes.write(Checkpoint.NONE));
            }
            Manifest manifest = new Manifest(disk, ManifestBytes.read(disk, NAME));
            disk.forceNames(); // should the process have ended before it had done so
            for (SnapshotFile file : manifest.newest.files()) {
                manifest.checkLength(file);
            }
            WholeFile.removeUnfinished(disk);
            manifest.removeOthers();
            return manifest;
        } catch (IOException e) {
            throw DiskErrors.failed("open " + disk.path(NAME), e);
        }
    }

    private void checkLength(SnapshotFile expected) throws IOException {
        String path = disk.path(expected.name());
        try (DiskFile file = disk.open(expected.name())) {
            if (file.size() != expected.bytes()) {
                throw DiskErrors.damaged(
                        path,
                        Math.min(file.size(), expected.bytes()),
                        "it has " + file.size() + " bytes, and " + expected.bytes() + " were written");
            }
        } catch (NoSuchFileException e) {
            throw DiskErrors.missing(path, "it is of checkpoint " + newest.number());
        }
    }

    static boolean isOurs(String name) {
        return OURS.matcher(name).matches();
    }

    /** Files of checkpoints that the newest one does not have. */
    private void removeOthers() throws IOException {
        Set<String> kept = new HashSet<>();
        kept.addAll(held.keySet());
        newest.files().forEach(file -> kept.add(file.name()));
        for (String name : disk.list()) {
            if (isOurs(name) && !kept.contains(name)) {
                disk.delete(name);
            }
        }
    }

    /** The newest checkpoint; {@link Checkpoint#NONE} before there is one. */
    public Checkpoint newest() {
        return newest;
    }

    /**
     * The newest checkpoint, to be copied while there are newer ones; called as the other methods are.
     *
     * @return to be closed, by any thread: its files are there until then, and are removed behind the next checkpoint that is published
     */
    public ManifestImage image() {
        List<FileImage> files = new ArrayList<>();
        for (SnapshotFile file : newest.files()) {
            files.add(FileImage.of(disk, file.name(), file.bytes(), file.bytes()));
            held.merge(file.name(), 1, Integer::sum);
        }
        files.add(FileImage.of(NAME, ManifestBytes.write(newest)));
        return new ManifestImage(newest, files, this::release);
    }

    private void release(Checkpoint of) {
        of.files()
                .forEach(file -> held.computeIfPresent(file.name(), (name, images) -> images == 1 ? null : images - 1));
    }

    /** A name for another file of the next checkpoint. */
    public String newFileName() {
        return String.format("checkpoint-%012d-%04d.snapshot", newest.number() + 1, filesNamed++);
    }

    /**
     * Has a checkpoint take the place of the newest one, whose files it need not have; when this returns, it lasts.
     *
     * @param logNumber number of the last record of the log that it contains
     * @param files finished snapshots of this disk, new ones and those of the newest checkpoint that it goes on using
     * @throws MillraceException 53100 or 58030: then the newest one still counts, here and after a restart, unless the last step
     *     could not be forced; in either case both have their files until the next checkpoint
     */
    public Checkpoint publish(long logNumber, List<SnapshotFile> files) {
        Checkpoint next = new Checkpoint(newest.number() + 1, logNumber, files);
        try {
            disk.forceNames();
            WholeFile.write(disk, NAME, ManifestBytes.write(next));
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(NAME), e);
        }
        newest = next;
        filesNamed = 0;
        try {
            removeOthers();
        } catch (IOException e) {
            return next; // they are removed after the next one
        }
        return next;
    }

    /**
     * Reads every byte of the manifest of a directory and of the snapshots that it names, and changes nothing; who has it open may
     * publish another meanwhile.
     *
     * @return what was found, file by file
     * @throws MillraceException 58030 where something cannot be read
     */
    public static List<FileReport> verify(Disk disk) {
        try {
            for (int i = 1; ; i++) {
                Optional<Checkpoint> before = read(disk);
                List<FileReport> files = ManifestVerification.run(disk);
                boolean whole = files.stream().allMatch(FileReport::isWhole);
                if (whole || i == MOST_TRIES || before.equals(read(disk))) {
                    return files;
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + disk.path(NAME), e);
        }
    }

    /** Whether a directory has one, or has had one: {@link #open} would begin none there. */
    public static boolean exists(Disk disk) throws IOException {
        return disk.has(NAME) || disk.list().stream().anyMatch(Manifest::isOurs);
    }

    /** The newest checkpoint of a directory, as the manifest names it, which stays as it is; none if that is missing or damaged. */
    public static Optional<Checkpoint> read(Disk disk) throws IOException {
        try {
            return Optional.of(ManifestBytes.read(disk, NAME));
        } catch (MillraceException | NoSuchFileException e) {
            return Optional.empty();
        }
    }
}
