package dev.millrace.server.session;

import dev.millrace.sketch.file.SketchFileWriter;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random rows as sketches, as what these show, and as they went in. */
final class SketchedRows {
    private static final int ROWS = 5_000;
    private static final long START = 1_767_225_600_000_000L; // 2026-01-01
    private static final long SECOND = 1_000_000;

    private SketchedRows() {}

    /** A file of sketches, and a CSV file of what went in. */
    static void write(Path folder, Random random) throws Exception {
        SketchSchema schema = SketchSchema.of(
                Feature.number("temp", Bound.absolute(.5)),
                Feature.whole("load", Bound.absolute(3)),
                Feature.text("room"),
                Feature.whole("door", Bound.exact()));
        List<String> lines = new ArrayList<>(List.of("time,temp,load,room,door"));
        Files.deleteIfExists(folder.resolve("s.sketch"));
        try (SketchFileWriter file = SketchFileWriter.create(folder.resolve("s.sketch"), true)) {
            StreamEncoder encoder = new StreamEncoder(
                    schema,
                    EncoderOptions.defaults().withSegmentRows(64 + random.nextInt(900)),
                    segment -> file.add(segment.bytes()));
            double level = 20;
            int noise = random.nextInt(3);
            String room = "hall";
            long door = 0;
            long time = START;
            boolean late = random.nextInt(3) == 0;
            for (int i = 0; i < ROWS; i++) {
                time += random.nextInt(50) == 0 ? 40 * SECOND : SECOND;
                long at = late && random.nextInt(20) == 0 ? time - random.nextInt(20) * SECOND : time;
                level = noise == 0
                        ? level + (random.nextInt(200) == 0 ? 5 : 0) % 30
                        : level + random.nextGaussian() * noise;
                room = random.nextInt(100) == 0 ? "room " + random.nextInt(4) : room;
                door = random.nextInt(30) == 0 ? 1 - door : door;
                boolean hasTemp = random.nextInt(40) > 0;
                boolean hasRoom = random.nextInt(60) > 0;
                long load = i / 300 % 7 + (noise == 2 ? random.nextInt(40) : 0);
                Observations row = encoder.row(at);
                if (hasTemp) {
                    row.number(0, level);
                }
                row.whole(1, load);
                if (hasRoom) {
                    row.text(2, room);
                }
                row.whole(3, door);
                lines.add(at + "," + (hasTemp ? level : "") + "," + load + "," + (hasRoom ? room : "") + "," + door);
            }
            encoder.flush();
        }
        Files.write(folder.resolve("exact.csv"), lines);
    }

    /** A database with the sketches as {@code s}, the rows that they show as {@code shown}, and those that went in as {@code exact}. */
    static TestDatabase open(Path folder, int workers) {
        TestDatabase database = new TestDatabase(workers);
        database.run("CREATE STREAM s WITH (connector = 'sketch', path = '" + folder.resolve("s.sketch") + "')");
        database.run("CREATE TABLE shown (time TIMESTAMP, temp DOUBLE PRECISION, load BIGINT, room TEXT, door BIGINT)");
        database.run("INSERT INTO shown SELECT * FROM s");
        database.run("CREATE STREAM csv (time BIGINT, temp DOUBLE PRECISION, load BIGINT, room TEXT, door BIGINT)"
                + " WITH (connector = 'file', path = '" + folder.resolve("exact.csv") + "')");
        database.run("CREATE TABLE exact (time TIMESTAMP, temp DOUBLE PRECISION, load BIGINT, room TEXT, door BIGINT)");
        database.run(
                "INSERT INTO exact SELECT TIMESTAMP '1970-01-01 00:00:00' + time * INTERVAL '1 microsecond', temp, load,"
                        + " room, door FROM csv");
        return database;
    }
}
