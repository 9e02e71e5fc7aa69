package dev.millrace.engine.checkpoint;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads one section, part by part, in the format of this package. What it is asked for beyond the end of a part is not there; what
 * of a part is not asked for is passed over. One thread.
 */
public final class SectionInput implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 << 10;

    private final String section;
    private final DataInputStream in;
    private final DataInputStream part = new DataInputStream(new Bytes());
    private String name = "";
    private int version;
    private long schemaHash;
    private int group;
    private int left; // of the chunk
    private int nextKind = -1; // of the chunk behind, once it was looked at
    private boolean ended;

    /** @param bytes closed with this */
    SectionInput(String section, InputStream bytes) {
        this.section = section;
        this.in = new DataInputStream(new BufferedInputStream(bytes, BUFFER_BYTES));
    }

    /**
     * Goes on to the next part; false if there is none.
     *
     * @throws MillraceException XX001 if the section is damaged
     */
    public boolean next() throws IOException {
        while (!ended && !(nextKind == SectionOutput.PART && left == 0)) {
            skipChunk();
            look();
        }
        if (ended) {
            return false;
        }
        beginChunk();
        name = part.readUTF();
        version = part.readShort();
        schemaHash = part.readLong();
        group = part.readShort();
        return true;
    }

    /** @throws MillraceException 0A000 if the part is in another format */
    void requireVersion(int read) {
        if (version != read) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "section \"" + section + "\" of a checkpoint has \"" + name + "\" in format " + version
                            + ", this release reads " + read);
        }
    }

    /** @throws MillraceException XX001 if the part is of something else */
    void requireSchema(long hash) {
        if (schemaHash != hash) {
            throw damaged("has \"" + name + "\" of another operator, with schema " + Long.toHexString(schemaHash)
                    + " instead of " + Long.toHexString(hash));
        }
    }

    public String name() {
        return name;
    }

    /** -1 for none. */
    public int group() {
        return group;
    }

    /** The bytes of the part. */
    public DataInputStream part() {
        return part;
    }

    private void skipChunk() throws IOException {
        if (nextKind == SectionOutput.MORE) {
            beginChunk();
        }
        while (left > 0) {
            long skipped = in.skip(left);
            if (skipped <= 0) {
                in.readByte(); // says if it is the end
                skipped = 1;
            }
            left -= (int) skipped;
        }
    }

    /** Finds out what follows the chunk, which was read. */
    private void look() throws IOException {
        if (nextKind < 0) {
            try {
                nextKind = in.readByte();
            } catch (EOFException e) {
                throw damaged("ends in the midst");
            }
            if (nextKind != SectionOutput.PART && nextKind != SectionOutput.MORE && nextKind != SectionOutput.END) {
                throw damaged("has a piece of kind " + nextKind);
            }
            ended = nextKind == SectionOutput.END;
        }
    }

    private void beginChunk() throws IOException {
        try {
            left = in.readInt();
        } catch (EOFException e) {
            throw damaged("ends in the midst");
        }
        nextKind = -1;
        if (left < 0) {
            throw damaged("has a piece of " + left + " bytes");
        }
    }

    private MillraceException damaged(String how) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED, "section \"" + section + "\" of a checkpoint " + how);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    /** Of the part, up to its end. */
    private final class Bytes extends InputStream {
        private boolean goOn() throws IOException {
            while (left == 0) {
                look();
                if (nextKind != SectionOutput.MORE) {
                    return false;
                }
                beginChunk();
            }
            return true;
        }

        @Override
        public int read() throws IOException {
            if (!goOn()) {
                return -1;
            }
            int value = in.read();
            if (value < 0) {
                throw damaged("ends in the midst");
            }
            left--;
            return value;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (!goOn()) {
                return -1;
            }
            int count = in.read(into, offset, Math.min(length, left));
            if (count < 0) {
                throw damaged("ends in the midst");
            }
            left -= count;
            return count;
        }

        @Override
        public int available() {
            return left;
        }
    }
}
