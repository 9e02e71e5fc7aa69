package dev.millrace.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A file as it is to be in a copy of its directory: the first bytes of one that is there, and zeros behind them, or bytes that are made
 * for the copy. Any thread; who made it sees to it that the file is there, and that these bytes stay, until it was read.
 */
public final class FileImage {
    private static final int PIECE = 1 << 20;

    private final String name;
    private final long length;
    private final long kept; // bytes that come from the file; the others are zero
    private final Optional<Disk> from;
    private final String source; // its name there
    private final ByteBuffer made;

    /** Takes a piece of a file, in order; the bytes from position to limit, which it need not keep. */
    @FunctionalInterface
    public interface Pieces {
        void take(ByteBuffer piece) throws IOException;
    }

    private FileImage(String name, long length, long kept, Optional<Disk> from, String source, ByteBuffer made) {
        this.name = name;
        this.length = length;
        this.kept = kept;
        this.from = from;
        this.source = source;
        this.made = made;
    }

    /** All of a file that does not change any more. */
    public static FileImage of(Disk from, String name) throws IOException {
        long length = WholeFile.length(from, name);
        return of(from, name, length, length);
    }

    /**
     * A part of a file.
     *
     * @param kept how many bytes of it; the others may change
     * @param length in bytes, of the copy
     */
    public static FileImage of(Disk from, String name, long kept, long length) {
        return new FileImage(name, length, kept, Optional.of(from), name, ByteBuffer.allocate(0));
    }

    /** A file that is made for the copy, of the bytes from position to limit. */
    public static FileImage of(String name, ByteBuffer bytes) {
        return new FileImage(
                name, bytes.remaining(), bytes.remaining(), Optional.empty(), name, bytes.asReadOnlyBuffer());
    }

    /** The same, of a file that lies in a directory of the copy. */
    public FileImage in(String directory) {
        return new FileImage(directory + "/" + name, length, kept, from, source, made);
    }

    /** In the copy, with its directories before it, by {@code /}. */
    public String name() {
        return name;
    }

    /** Of the copy, in bytes. */
    public long length() {
        return length;
    }

    /**
     * Reads it from its beginning to its end.
     *
     * @throws dev.millrace.error.MillraceException XX001 if the file is shorter than it was
     */
    public void read(Pieces pieces) throws IOException {
        if (from.isEmpty()) {
            pieces.take(made.duplicate());
            return;
        }
        ByteBuffer piece = ByteBuffer.allocate((int) Math.min(PIECE, length));
        try (DiskFile file = from.get().open(source)) {
            for (long at = 0; at < kept; at += piece.limit()) {
                piece.clear().limit((int) Math.min(piece.capacity(), kept - at));
                int read = file.read(piece, at);
                DiskErrors.require(
                        !piece.hasRemaining(), from.get().path(source), at + read, "it ends there, and was longer");
                pieces.take(piece.flip());
            }
        }
        ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(PIECE, length - kept));
        for (long at = kept; at < length; at += zeros.limit()) {
            pieces.take(zeros.clear().limit((int) Math.min(zeros.capacity(), length - at)));
        }
    }
}
