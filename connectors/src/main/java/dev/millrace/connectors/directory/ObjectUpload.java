package dev.millrace.connectors.directory;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.s3.ObjectName;
import dev.millrace.connectors.s3.ObjectStore;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/**
 * Makes an object of a file, which every reader sees once, whatever is killed when:
 *
 * <pre>
 *   upload the parts -> keep the upload beside the file, on disk -> complete it -> remove the file
 * </pre>
 *
 * An upload can be completed once. Who finds one kept, and that the store does not know it any more, knows that it was completed, though its object may have been taken
 * away since. One whose parts the store lost was not completed, unless its object is there: the file is uploaded anew. Stateless; by the thread of {@link Uploads}.
 */
final class ObjectUpload {
    private static final String PRINT = "millrace-file"; // in the object's metadata
    private static final long LEAST_PART_BYTES = 8 << 20;
    private static final int MOST_PARTS = 10_000;

    /** Stores may give up uploads that were not completed for days: rules for that count in days. */
    private static final long SURE_MILLIS = TimeUnit.HOURS.toMillis(20);

    private static final int CHUNK_BYTES = 64 << 10;

    private ObjectUpload() {}

    /**
     * Has the store show the file as an object, and removes it; may be called again for one whose call failed.
     *
     * @throws MillraceException 55000 if the object is there and is not of this file
     */
    static void show(ObjectStore store, Path file, ObjectName object, Clock clock) {
        if (!isShown(store, file, object, clock)) {
            upload(store, file, object, clock);
        }
        try {
            Files.deleteIfExists(file); // before what is kept beside it: what has no file was shown
            Files.deleteIfExists(UploadRecord.of(file));
        } catch (IOException e) {
            throw FileErrors.writing(file, e);
        }
    }

    /** Completes an upload that is kept. */
    private static boolean isShown(ObjectStore store, Path file, ObjectName object, Clock clock) {
        Optional<UploadRecord> kept = UploadRecord.read(file);
        if (kept.isEmpty()) {
            return isThere(store, file, object);
        }
        UploadRecord record = kept.get();
        ObjectStore.Completion completion = store.complete(object, record.upload(), record.parts());
        if (completion == ObjectStore.Completion.SHOWN || isThere(store, file, object)) {
            return true;
        }
        if (completion == ObjectStore.Completion.UNKNOWN && millis(clock) - record.sinceMillis() < SURE_MILLIS) {
            return true; // completed before, and taken away
        }
        store.abort(object, record.upload());
        try {
            Files.deleteIfExists(UploadRecord.of(file));
        } catch (IOException e) {
            throw FileErrors.writing(file, e);
        }
        return false;
    }

    private static long millis(Clock clock) {
        return TimeUnit.MICROSECONDS.toMillis(clock.epochMicros());
    }

    private static boolean isThere(ObjectStore store, Path file, ObjectName object) {
        Optional<String> there = store.metadata(object, PRINT);
        if (there.isPresent() && !there.get().equals(print(file))) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "object \"" + object
                                    + "\" is there, and is not of this sink's rows: the database is an older copy of the"
                                    + " one that wrote it, or another wrote in its name")
                    .withHint("DROP SINK and CREATE it again: what comes from then on is written once");
        }
        return there.isPresent();
    }

    private static void upload(ObjectStore store, Path file, ObjectName object, Clock clock) {
        String upload = store.begin(object, Map.of(PRINT, print(file)));
        UploadRecord whole;
        try {
            whole = new UploadRecord(upload, parts(store, file, object, upload), millis(clock));
            whole.write(file);
        } catch (RuntimeException | Error e) {
            if (!Files.exists(UploadRecord.of(file))) { // else it is completed the next time, and may not be gone then
                abort(store, object, upload, e);
            }
            throw e;
        }
        ObjectStore.Completion completion = store.complete(object, whole.upload(), whole.parts());
        if (completion != ObjectStore.Completion.SHOWN && !isThere(store, file, object)) {
            throw MillraceException.external(
                    SqlState.IO_ERROR, "the upload of \"" + object + "\" is gone before it was completed");
        }
    }

    private static void abort(ObjectStore store, ObjectName object, String upload, Throwable because) {
        try {
            store.abort(object, upload);
        } catch (MillraceException e) {
            because.addSuppressed(e); // the sink looks for such when it is opened again
        }
    }

    private static List<String> parts(ObjectStore store, Path file, ObjectName object, String upload) {
        try {
            long bytes = Files.size(file);
            long partBytes = Math.max(LEAST_PART_BYTES, (bytes + MOST_PARTS - 1) / MOST_PARTS);
            List<String> tags = new ArrayList<>();
            long from = 0;
            do {
                int count = Math.toIntExact(Math.min(partBytes, bytes - from));
                tags.add(store.part(object, upload, tags.size() + 1, file, from, count));
                from += count;
            } while (from < bytes);
            return tags;
        } catch (IOException e) {
            throw FileErrors.reading(file, e);
        }
    }

    /** By which the object of a file is known: its length and a sum over its bytes. */
    private static String print(Path file) {
        CRC32C sum = new CRC32C();
        long bytes = 0;
        try (InputStream in = Files.newInputStream(file)) {
            byte[] chunk = new byte[CHUNK_BYTES];
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                sum.update(chunk, 0, read);
                bytes += read;
            }
        } catch (IOException e) {
            throw FileErrors.reading(file, e);
        }
        return bytes + "-" + Long.toHexString(sum.getValue());
    }

    /**
     * Gives up uploads of this sink's that a crash left without a file that they are kept beside: nobody completes them.
     *
     * @param files that wait
     */
    static void abortForgotten(ObjectStore store, ObjectName target, PartName names, List<Path> files) {
        Set<String> kept = files.stream()
                .flatMap(file -> UploadRecord.read(file).stream())
                .map(UploadRecord::upload)
                .collect(Collectors.toSet());
        try {
            store.uploads(target).forEach((upload, object) -> {
                if (!kept.contains(upload) && names.isShown(object.key())) {
                    store.abort(object, upload);
                }
            });
        } catch (MillraceException e) {
            if (e.sqlState() != SqlState.INSUFFICIENT_PRIVILEGE) { // who may not list them has rules for such
                throw e;
            }
        }
    }
}
