package dev.millrace.sketch.file;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.form.Limits;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * A file of segments.
 *
 * @param timestamps whether times are to be written as timestamps
 * @param segments their bytes, in order
 */
public record SketchFile(boolean timestamps, List<byte[]> segments) {
    private static final byte[] MAGIC = "MRSK".getBytes(StandardCharsets.US_ASCII);
    private static final int FORMAT = 1;
    private static final int BUFFER = 1 << 16;

    /**
     * Writes the file as a whole: what was there under its name stays until the new one is complete on the disk.
     *
     * @throws MillraceException if that fails (58030); nothing was changed then
     */
    public void write(Path path) {
        Path unfinished = path.resolveSibling(path.getFileName() + ".unfinished");
        try {
            try {
                try (FileOutputStream file = new FileOutputStream(unfinished.toFile());
                        OutputStream out = new BufferedOutputStream(file, BUFFER)) {
                    writeTo(out);
                    out.flush();
                    file.getFD().sync();
                }
                Files.move(unfinished, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(unfinished);
            }
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot write " + path + ": " + e.getMessage(), e);
        }
    }

    private void writeTo(OutputStream out) throws IOException {
        out.write(MAGIC);
        out.write(FORMAT);
        out.write(timestamps ? 1 : 0);
        for (byte[] segment : segments) {
            for (int i = 0; i < 4; i++) {
                out.write(segment.length >>> 8 * i);
            }
            out.write(segment);
        }
    }

    /**
     * Reads a file.
     *
     * @throws MillraceException if it is no such file, was cut off, or is of a newer format
     */
    public static SketchFile read(Path path) {
        try (InputStream raw = Files.newInputStream(path);
                DataInputStream in = new DataInputStream(new BufferedInputStream(raw))) {
            long left = Files.size(path) - MAGIC.length - 2;
            if (left < 0 || !java.util.Arrays.equals(in.readNBytes(MAGIC.length), MAGIC)) {
                throw MillraceException.user(SqlState.BAD_COPY_FILE_FORMAT, path + " is no file of sketches")
                        .withHint("./millrace sketch encode FILE.csv makes one.");
            }
            int format = in.read();
            if (format != FORMAT) {
                throw MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        path + " has format " + format + ", and this version of Millrace reads " + FORMAT);
            }
            boolean timestamps = in.read() == 1;
            List<byte[]> segments = new ArrayList<>();
            while (left > 0) {
                Damage.check(left >= 4, "the file ends within segment " + (segments.size() + 1));
                int length = Integer.reverseBytes(in.readInt());
                left -= 4;
                if (length < 0 || length > Math.min(left, Limits.SEGMENT_BYTES)) {
                    throw Damage.damaged("the file ends within segment " + (segments.size() + 1));
                }
                segments.add(in.readNBytes(length));
                left -= length;
            }
            return new SketchFile(timestamps, segments);
        } catch (NoSuchFileException e) {
            throw MillraceException.user(SqlState.UNDEFINED_FILE, "there is no file " + path);
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot read " + path + ": " + e.getMessage(), e);
        }
    }
}
