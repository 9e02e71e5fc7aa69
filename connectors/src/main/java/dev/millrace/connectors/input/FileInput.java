package dev.millrace.connectors.input;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * The bytes of one file, or of a range of it, in order: {@code .gz} unpacked, other encodings turned into UTF-8. A file that begins with
 * a mark of UTF-8 or UTF-16 is of that encoding, whatever was said. A file that grows is read on: end of file is only what there is now.
 * Owned by one thread at a time.
 */
public final class FileInput implements AutoCloseable {
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int GZIP_WINDOW_BYTES = 64 << 10;
    private static final int MARK_BYTES = 3;
    private static final int MOST_GROWTH = Encoding.UTF_16LE.growth();
    static final int LEAST_ROOM = 12; // for a character held back and the next two, whatever the encoding
    private static final int SKIPPED_BYTES = 16 << 20; // unpacked in vain, by one call

    private final Path file;
    private final FileChannel channel;
    private final InputStream stream;
    private final boolean packed;
    private final long limit;
    private Encoding encoding;
    private ToUtf8 toUtf8;
    private final byte[] chunk = new byte[CHUNK_BYTES];
    private long unpackedBytes;
    private long toSkip; // of what is unpacked

    private FileInput(
            Path file, FileChannel channel, InputStream stream, boolean packed, Encoding encoding, long limit) {
        this.file = file;
        this.channel = channel;
        this.stream = stream;
        this.packed = packed;
        this.limit = limit;
        this.encoding = encoding;
        this.toUtf8 = new ToUtf8(encoding);
    }

    /**
     * Opens a file.
     *
     * @throws MillraceException when it is missing, a directory, not readable, or named .gz without being one
     */
    public static FileInput open(Path file, Encoding encoding) {
        return open(file, encoding, 0, Long.MAX_VALUE);
    }

    /**
     * Opens the bytes of a file from {@code from} to before {@code to}. Those of a packed file are counted unpacked, and it is read to
     * its end; up to {@code from} it is unpacked again by {@link #skipSome}.
     */
    public static FileInput open(Path file, Encoding encoding, long from, long to) {
        if (Files.isDirectory(file)) {
            throw FileErrors.isDirectory(file);
        }
        FileChannel channel;
        try {
            channel = FileChannel.open(file, StandardOpenOption.READ);
        } catch (IOException e) {
            throw FileErrors.opening(file, "for reading", e);
        }
        try {
            boolean packed = isPacked(file);
            channel.position(packed ? 0 : from);
            InputStream raw = Channels.newInputStream(channel);
            InputStream stream = packed ? new GZIPInputStream(new Unclosed(raw), GZIP_WINDOW_BYTES) : raw;
            FileInput input = new FileInput(file, channel, stream, packed, encoding, to);
            if (!packed) {
                ByteBuffer beginning = ByteBuffer.allocate(MARK_BYTES);
                channel.read(beginning, 0);
                input.obeyMark(beginning.array(), beginning.position());
            }
            input.toSkip = packed ? from : 0;
            return input;
        } catch (IOException e) {
            closeQuietly(channel);
            if (e instanceof ZipException || e instanceof EOFException) {
                throw MillraceException.external(
                        SqlState.DATA_CORRUPTED, "file \"" + file + "\" is not in gzip format", e);
            }
            throw FileErrors.opening(file, "for reading", e);
        }
    }

    private void obeyMark(byte[] beginning, int bytes) {
        if (bytes < 2) {
            return;
        }
        int two = (beginning[0] & 0xff) << 8 | beginning[1] & 0xff;
        Encoding said = encoding;
        if (two == 0xfffe) {
            said = Encoding.UTF_16LE;
        } else if (two == 0xfeff) {
            said = Encoding.UTF_16BE;
        } else if (two == 0xefbb && bytes > 2 && beginning[2] == (byte) 0xbf) {
            said = Encoding.UTF_8;
        }
        encoding = said;
        toUtf8 = new ToUtf8(said);
    }

    /** Whether the name says that the file is packed. */
    public static boolean isPacked(Path file) {
        return file.getFileName().toString().toLowerCase(java.util.Locale.ROOT).endsWith(".gz");
    }

    /** Keeps the channel open when the unpacking stream is closed, so that it is closed once. */
    private static final class Unclosed extends FilterInputStream {
        Unclosed(InputStream in) {
            super(in);
        }

        @Override
        public void close() {}
    }

    /**
     * Reads some bytes to {@code address}, at most {@code capacity}, which is at least {@value #LEAST_ROOM}; returns how many, perhaps none,
     * or -1 at the end of what there is now.
     *
     * @throws MillraceException when the file is damaged or cannot be read; what was read before stays valid
     */
    public int read(long address, int capacity) {
        boolean mayBeMarked = packed && unpackedBytes == 0;
        int growth = mayBeMarked ? MOST_GROWTH : encoding.growth();
        int read = chunk(Math.min(CHUNK_BYTES, capacity / growth));
        if (read > 0 && encoding != Encoding.UTF_8) {
            return toUtf8.write(chunk, read, address);
        }
        if (read > 0) {
            Memory.copyIn(chunk, 0, address, read);
        }
        return read;
    }

    /** Reads some bytes; returns how many, or -1 at the end of what there is now. */
    private int chunk(int most) {
        try {
            int wanted = packed ? most : (int) Math.min(most, limit - channel.position());
            int read = wanted <= 0 ? -1 : stream.read(chunk, 0, wanted);
            if (packed && unpackedBytes == 0) {
                while (read > 0 && read < Math.min(wanted, MARK_BYTES)) {
                    int more = stream.read(chunk, read, wanted - read);
                    if (more <= 0) {
                        break;
                    }
                    read += more;
                }
                obeyMark(chunk, read);
            }
            unpackedBytes += Math.max(0, read);
            return read <= 0 ? -1 : read;
        } catch (EOFException e) {
            throw damaged("ends in the middle", e);
        } catch (ZipException e) {
            throw damaged("is damaged (" + e.getMessage() + ")", e);
        } catch (IOException e) {
            throw MillraceException.external(
                    SqlState.IO_ERROR, "could not read file \"" + file + "\": " + FileErrors.reason(e), e);
        }
    }

    /**
     * Passes over some megabytes of what is not to be read; true when there is nothing more of that, and {@link #read} may be called.
     *
     * @throws MillraceException as {@link #read}; 55000 if the file ends before
     */
    boolean skipSome() {
        for (int left = SKIPPED_BYTES; toSkip > 0 && left > 0; ) {
            int skipped = chunk((int) Math.min(CHUNK_BYTES, toSkip));
            if (skipped <= 0) {
                throw MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "file \"" + file + "\" is not the one any more of which " + (unpackedBytes + toSkip)
                                + " unpacked bytes were read: it has " + unpackedBytes);
            }
            toSkip -= skipped;
            left -= skipped;
        }
        return toSkip == 0;
    }

    private MillraceException damaged(String how, IOException cause) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED,
                "gzip file \"" + file + "\" " + how + ", after " + packedPosition() + " bytes (" + unpackedBytes
                        + " unpacked)",
                cause);
    }

    public Path file() {
        return file;
    }

    /** Behind which byte of the file is what was given, as {@link #open} counts them, if reading began at its start or there. */
    long offset() {
        return (packed ? unpackedBytes + toSkip : packedPosition()) - toUtf8.heldBytes();
    }

    /** How characters are written in it. */
    public Encoding encoding() {
        return encoding;
    }

    /** Bytes of the file itself that were read, for progress; a packed file is read some way ahead. */
    public long packedPosition() {
        try {
            return channel.isOpen() ? channel.position() : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public void close() {
        try {
            if (packed) {
                stream.close(); // frees the unpacker's native memory
            }
        } catch (IOException e) {
            // reading is over; nothing can be lost
        }
        closeQuietly(channel);
    }

    private static void closeQuietly(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // reading is over; nothing can be lost
        }
    }
}
