package dev.millrace.connectors.input;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/**
 * Where reading goes on in a file, and how the file is known again. Immutable.
 *
 * @param from the first byte that was not read, as {@link FileInput} counts them
 * @param to behind the last one to be read; {@link Long#MAX_VALUE} for all there is
 * @param line that {@code from} is in, from 1
 * @param inRecord whether {@code from} is within a record that was given up, and the rest of its line is to be passed over
 */
public record FilePlace(Path file, long from, long to, long line, boolean inRecord) {
    public FilePlace {
        if (from < 0 || to < from || line < 1) {
            throw new IllegalArgumentException("bytes " + from + " to " + to + " of a file, from line " + line);
        }
    }

    /** The beginning of a file. */
    public static FilePlace beginningOf(Path file) {
        return new FilePlace(file, 0, Long.MAX_VALUE, 1, false);
    }

    /** Writes it, with what the file is like up to there: looks at the file. */
    public void write(DataOutput out) throws IOException {
        FilePrint print = FilePrint.of(file, Math.min(from, Files.size(file)));
        out.writeUTF(file.toString());
        out.writeLong(from);
        out.writeLong(to);
        out.writeLong(line);
        out.writeBoolean(inRecord);
        out.writeLong(print.bytes());
        out.writeLong(print.head());
        out.writeLong(print.tail());
    }

    /**
     * Reads one that was written, and looks at its file.
     *
     * @param now where a file is that had this path
     * @throws MillraceException 55000 if the file does not begin any more with what was read, 58030 if it cannot be looked at
     */
    public static FilePlace read(DataInput in, UnaryOperator<Path> now) throws IOException {
        Path file = now.apply(Path.of(in.readUTF()));
        FilePlace place = new FilePlace(file, in.readLong(), in.readLong(), in.readLong(), in.readBoolean());
        FilePrint print = new FilePrint(in.readLong(), in.readLong(), in.readLong());
        if (print.bytes() < 0 || print.bytes() > place.from) {
            throw new IllegalArgumentException(print.bytes() + " bytes of a file before byte " + place.from);
        }
        place.require(print);
        return place;
    }

    private void require(FilePrint print) {
        boolean same;
        try {
            same = print.isBeginningOf(file);
        } catch (IOException e) {
            throw FileErrors.opening(file, "to read on", e);
        }
        if (!same) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "file \"" + file + "\" is not the one any more of which " + from + " bytes were read");
        }
    }
}
