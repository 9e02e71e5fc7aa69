package dev.millrace.connectors.csv;

import dev.millrace.connector.SourcePosition;
import dev.millrace.connectors.input.FilePlace;
import dev.millrace.kept.FormedBytes;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * What a reader has still to read, as bytes: how many segments, 4 bytes; of each its {@link FilePlace}, its bytes, 8, and its layout:
 * how many fields, 4 bytes, -1 if the header is to come, their names, how many columns, 4 bytes, and the field of each, 4 bytes,
 * -1 if the file does not have it.
 */
final class CsvPosition {
    private static final String FORM = "csv";
    private static final int VERSION = 2;
    private static final int LEAST_SEGMENT_BYTES = 63; // a place, its bytes and how many fields

    private CsvPosition() {}

    static SourcePosition of(List<CsvSegment> segments) {
        return SourcePosition.of(FORM, VERSION, out -> {
            out.writeInt(segments.size());
            for (CsvSegment segment : segments) {
                write(segment, out);
            }
        });
    }

    private static void write(CsvSegment segment, DataOutput out) throws IOException {
        new FilePlace(segment.file(), segment.from(), segment.to(), segment.firstLine(), segment.inRecord()).write(out);
        out.writeLong(segment.bytes());
        if (segment.layout().isEmpty()) {
            out.writeInt(-1);
            return;
        }
        CsvLayout layout = segment.layout().get();
        out.writeInt(layout.names().size());
        for (String name : layout.names()) {
            out.writeUTF(name);
        }
        out.writeInt(layout.fieldOf().size());
        for (int field : layout.fieldOf()) {
            out.writeInt(field);
        }
    }

    static List<CsvSegment> read(SourcePosition position, UnaryOperator<Path> now, int columns) {
        return position.read(FORM, VERSION, in -> {
            List<CsvSegment> segments = new ArrayList<>();
            for (int left = FormedBytes.count(in, LEAST_SEGMENT_BYTES); left > 0; left--) {
                segments.add(segment(in, now, columns));
            }
            return segments;
        });
    }

    private static CsvSegment segment(DataInputStream in, UnaryOperator<Path> now, int columns) throws IOException {
        FilePlace place = FilePlace.read(in, now);
        long bytes = in.readLong();
        int fields = in.readInt();
        Optional<CsvLayout> layout = fields == -1 ? Optional.empty() : Optional.of(layout(in, fields, columns));
        return new CsvSegment(
                place.file(), place.from(), place.to(), place.line(), layout, Math.max(0, bytes), place.inRecord());
    }

    private static CsvLayout layout(DataInputStream in, int fields, int columns) throws IOException {
        List<String> names = new ArrayList<>();
        for (int left = checked(fields, in.available() / Short.BYTES); left > 0; left--) {
            names.add(in.readUTF());
        }
        if (in.readInt() != columns) {
            throw new IllegalArgumentException("the columns are others now");
        }
        List<Integer> fieldOf = new ArrayList<>();
        for (int column = 0; column < columns; column++) {
            int field = in.readInt();
            fieldOf.add(field == CsvLayout.ABSENT ? field : checked(field, fields - 1));
        }
        return new CsvLayout(names, fieldOf);
    }

    private static int checked(int count, int most) {
        if (count < 0 || count > most) {
            throw new IllegalArgumentException(count + " where at most " + most + " can be");
        }
        return count;
    }
}
