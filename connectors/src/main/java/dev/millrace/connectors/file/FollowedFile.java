package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePrint;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Optional;

/**
 * One followed file, whatever it is called meanwhile: how far it was read, and whether it still begins with what was read.
 *
 * <pre>
 *   READ --cannot be read--> SUSPECT --unchanged for a look--> ASIDE (told)
 *     ^                         |                                |
 *     +-- changed, and then unchanged for a look: tried again ---+
 * </pre>
 *
 * A file that is read again gives no row twice: as many as it gave before are passed over, unless it has other contents.
 */
final class FollowedFile implements AutoCloseable {
    private enum State {
        READ,
        SUSPECT,
        ASIDE
    }

    private static final FileTime NEVER = FileTime.fromMillis(Long.MIN_VALUE);

    /** What tells that a file has changed. */
    private record Stamp(long bytes, FileTime modified) {
        static final Stamp NONE = new Stamp(-1, NEVER);

        static Stamp of(BasicFileAttributes attributes) {
            return new Stamp(attributes.size(), attributes.lastModifiedTime());
        }
    }

    private final Object identity;
    private final boolean oneOfMany;
    private final FileFormat format;
    private final ScanRequest request;
    private final SourceContext context;
    private final FollowContext readers;
    private Path path;
    private Optional<SourceReader> reader = Optional.empty();
    private State state = State.READ;
    private Optional<MillraceException> failure = Optional.empty();
    private FilePrint print = new FilePrint(0, 0, 0);
    private FileTime modified = NEVER;
    private Stamp tried = Stamp.NONE; // when it could not be read
    private Stamp seen = Stamp.NONE; // at the last look since then
    private boolean atEnd; // nothing more was at hand
    private long rows; // given out
    private long passOver; // of the rows to come, those that were given out before
    private long idleSinceNanos;

    boolean leaving; // replaced or removed: to be closed at its end
    int missed; // looks in a row that did not find it

    FollowedFile(
            Path path,
            Object identity,
            boolean oneOfMany,
            FileFormat format,
            ScanRequest request,
            SourceContext context) {
        this.path = path;
        this.identity = identity;
        this.oneOfMany = oneOfMany;
        this.format = format;
        this.request = request;
        this.context = context;
        this.readers = new FollowContext(context, oneOfMany);
        this.idleSinceNanos = context.clock().nanoTime();
    }

    /** What tells a file from others on the disk, under whatever name; its name where the system knows nothing better. */
    static Object identity(Path file, BasicFileAttributes attributes) {
        Object key = attributes.fileKey();
        return key == null ? file : key;
    }

    Path path() {
        return path;
    }

    /** The file has another name now. */
    void renamed(Path newPath) {
        path = newPath;
    }

    boolean isOpen() {
        return reader.isPresent();
    }

    /** Since when it gave no rows. */
    long idleSinceNanos() {
        return idleSinceNanos;
    }

    /**
     * The next rows, if any are at hand.
     *
     * @throws MillraceException when a record is bad and {@code on_error} says that the query fails, or memory is out
     */
    Optional<Batch> poll() {
        boolean gone = leaving && reader.isEmpty(); // what has its name is another file
        if (gone || state != State.READ || !leaving && !isAsItWas()) {
            return Optional.empty();
        }
        try {
            if (reader.isEmpty()) {
                reader = Optional.of(format.follow(path, request, readers));
                if (!hasItsName()) { // and has lost it since it was compared: this may be the other
                    closeReader();
                    return Optional.empty();
                }
            }
            Optional<Batch> batch = unseen(reader.get().poll());
            atEnd = batch.isEmpty();
            if (batch.isPresent()) {
                idleSinceNanos = context.clock().nanoTime();
            }
            return batch;
        } catch (MillraceException e) {
            if (readers.isRejection(e) && !isOfAnotherKind(e)
                    || e.fault() == MillraceException.Fault.RESOURCES
                    || e.fault() == MillraceException.Fault.INTERNAL) {
                throw e;
            }
            closeReader();
            suspect(e);
            return Optional.empty();
        }
    }

    /** The first line of a file that a pattern happens to find is neither a header nor a record: nothing in it is of the stream. */
    private boolean isOfAnotherKind(MillraceException e) {
        return oneOfMany && rows == 0 && readers.isRejectionOfFirst(e);
    }

    /** Passes over what was given out before; a batch without rows stands for them. */
    private Optional<Batch> unseen(Optional<Batch> next) {
        if (next.isEmpty() || passOver == 0) {
            next.ifPresent(batch -> rows += batch.rowCount());
            return next;
        }
        try (Batch batch = next.get()) {
            int seen = (int) Math.min(passOver, batch.rowCount());
            passOver -= seen;
            rows += batch.rowCount() - seen;
            return Optional.of(BatchPart.of(batch, seen, batch.rowCount(), batch.columnCount(), context.allocator()));
        }
    }

    private void suspect(MillraceException why) {
        failure = Optional.of(why);
        state = State.SUSPECT;
        seen = Stamp.NONE;
        try {
            tried = Stamp.of(Files.readAttributes(path, BasicFileAttributes.class));
        } catch (IOException e) {
            tried = Stamp.NONE;
        }
    }

    /** Looks at a file that has changed before more of it is read. False if it is not to be read now. */
    private boolean isAsItWas() {
        try {
            return compare() || reader.isPresent(); // another has its name: what was opened is read until it is found
        } catch (NoSuchFileException e) {
            return reader.isPresent(); // removed: what was opened is read to its end
        } catch (IOException e) {
            suspect(FileErrors.opening(path, "for reading", e));
            return false;
        }
    }

    private boolean hasItsName() {
        try {
            return identity(path, Files.readAttributes(path, BasicFileAttributes.class))
                    .equals(identity);
        } catch (IOException e) {
            return false;
        }
    }

    /** False, and nothing changed, if another file has the name: names are passed on from file to file at any moment. */
    private boolean compare() throws IOException {
        BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
        if (!identity(path, now).equals(identity)) {
            return false;
        }
        if (now.size() == print.bytes() && now.lastModifiedTime().equals(modified)) {
            return true;
        }
        boolean cut = now.size() < print.bytes();
        boolean other = cut || print.bytes() > 0 && !print.isBeginningOf(path);
        FilePrint next = FilePrint.of(path, now.size());
        if (!hasItsName()) {
            return false;
        }
        if (other) {
            if (rows > 0 && !(cut && atEnd)) {
                tell("the file was written over after " + rows
                        + " rows of it were read; it is read from its beginning");
            }
            startAnew();
        }
        print = next;
        modified = now.lastModifiedTime();
        return true;
    }

    private void tell(String what) {
        context.report(new RejectedRecord(path.toString(), 0, "", what, SqlState.DATA_CORRUPTED, ""));
    }

    /** Other contents: nothing of them was given out. */
    private void startAnew() {
        closeReader();
        rows = 0;
        passOver = 0;
    }

    /** At a look at the folder: whether a file that could not be read is to be tried again, or told of. */
    void look(BasicFileAttributes attributes) {
        if (state == State.READ) {
            return;
        }
        Stamp now = Stamp.of(attributes);
        boolean steady = now.equals(seen); // nobody is at it, such as who copies it
        seen = now;
        boolean mayBeRead =
                failure.orElseThrow().sqlState() == SqlState.INSUFFICIENT_PRIVILEGE && Files.isReadable(path);
        if (steady && !now.equals(tried) || mayBeRead) {
            state = State.READ;
        } else if (steady && state == State.SUSPECT) {
            state = State.ASIDE;
            MillraceException why = failure.get();
            context.report(new RejectedRecord(
                    path.toString(),
                    0,
                    "",
                    why.getMessage() + "; the file is set aside until it changes",
                    why.sqlState(),
                    ""));
        }
    }

    /** Frees what it holds; the file is opened again when it has grown. */
    void park() {
        closeReader();
    }

    private void closeReader() {
        reader.ifPresent(SourceReader::close);
        reader = Optional.empty();
        passOver = rows;
    }

    @Override
    public void close() {
        closeReader();
    }
}
