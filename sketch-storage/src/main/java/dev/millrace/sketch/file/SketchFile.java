package dev.millrace.sketch.file;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.segment.Versions;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * A file of segments in memory; for those that are too large for it there are {@link SketchFileReader} and {@link
 * SketchFileWriter}.
 *
 * @param timestamps whether times are to be written as timestamps
 * @param records the bytes of its segments, in order, and of announcements that some of them need
 */
public record SketchFile(boolean timestamps, List<byte[]> records) {
    private static final int FIRST_HEADER_BYTES = 6;

    /**
     * Writes the file as a whole: what was there under its name stays until the new one is complete on the disk.
     *
     * @throws MillraceException if that fails (58030); nothing was changed then
     */
    public void write(Path path) {
        SketchFiles.replace(path, timestamps, writer -> records.forEach(writer::add));
    }

    /** Reads the segments in their order, each with its bytes. */
    public void forEach(BiConsumer<byte[], Sketch> to) {
        Versions versions = new Versions();
        for (byte[] bytes : records) {
            SketchHeader header = SketchHeader.of(bytes);
            if (header.announcement() == SketchHeader.Announcement.ALONE) {
                versions.add(VersionCodec.decode(bytes));
            } else {
                to.accept(bytes, SegmentCodec.identify(bytes, header, versions).sketch());
            }
        }
    }

    /**
     * Reads a file of any format.
     *
     * @throws MillraceException if it is no such file, was cut off, is damaged, or is of a newer format
     */
    public static SketchFile read(Path path) {
        try (InputStream in = Files.newInputStream(path)) {
            byte[] header = in.readNBytes(FIRST_HEADER_BYTES);
            if (header.length < FIRST_HEADER_BYTES
                    || !Arrays.equals(Arrays.copyOf(header, Records.MAGIC.length), Records.MAGIC)) {
                throw MillraceException.user(SqlState.BAD_COPY_FILE_FORMAT, path + " is no file of sketches")
                        .withHint("./millrace sketch encode FILE.csv makes one.");
            }
            if (header[4] == 1) {
                return readFirst(path, false);
            }
            if (header[4] != Records.FORMAT) {
                throw MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        path + " has format " + header[4] + ", and this version of Millrace reads up to "
                                + Records.FORMAT);
            }
        } catch (NoSuchFileException e) {
            throw MillraceException.user(SqlState.UNDEFINED_FILE, "there is no file " + path);
        } catch (IOException e) {
            throw failed(path, e);
        }
        return readSecond(path);
    }

    private static MillraceException failed(Path path, IOException e) {
        return MillraceException.external(SqlState.IO_ERROR, "cannot read " + path + ": " + e.getMessage(), e);
    }

    private static SketchFile readSecond(Path path) {
        try (InputStream raw = Files.newInputStream(path);
                InputStream in = new BufferedInputStream(raw)) {
            byte[] header = in.readNBytes(Records.HEADER_BYTES);
            Records.check(header.length == Records.HEADER_BYTES, "the file ends within its header");
            Records records =
                    new Records(path, in, Files.size(path), header.length, Records.checksum(header, header.length), 0);
            List<byte[]> all = new ArrayList<>();
            for (var next = records.next(); next.isPresent(); next = records.next()) {
                if (next.get().kind() != Records.Kind.INDEX) {
                    all.add(next.get().bytes());
                }
            }
            return new SketchFile(header[5] == 1, all);
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** A file of the first format, which had lengths and segments, and nothing that would tell whether any is missing. */
    static SketchFile readFirst(Path path, boolean upToDamage) {
        try (InputStream raw = Files.newInputStream(path);
                DataInputStream in = new DataInputStream(new BufferedInputStream(raw))) {
            long left = Files.size(path) - FIRST_HEADER_BYTES;
            byte[] header = in.readNBytes(FIRST_HEADER_BYTES);
            List<byte[]> segments = new ArrayList<>();
            while (left > 0) {
                int length = left < 4 ? -1 : Integer.reverseBytes(in.readInt());
                left -= 4;
                if (length < 0 || length > Math.min(left, Limits.SEGMENT_BYTES)) {
                    if (upToDamage) {
                        break;
                    }
                    throw Damage.damaged("the file ends within segment " + (segments.size() + 1))
                            .withHint("./millrace sketch recover keeps the segments before it.");
                }
                segments.add(in.readNBytes(length));
                left -= length;
            }
            return new SketchFile(header[5] == 1, segments);
        } catch (IOException e) {
            throw failed(path, e);
        }
    }
}
