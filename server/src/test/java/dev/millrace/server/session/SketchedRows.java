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
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;

/** Random rows as sketches, as what these show, and as they went in. */
final class SketchedRows {
    private static final int ROWS = 5_000;
    private static final long START = 1_767_225_600_000_000L; // 2026-01-01
    private static final long SECOND = 1_000_000;

    private SketchedRows() {}

    private static SketchSchema schema() {
        return SketchSchema.of(
                Feature.number("temp", Bound.absolute(.5)),
                Feature.whole("load", Bound.absolute(3)),
                Feature.text("room"),
                Feature.whole("door", Bound.exact()));
    }

    /**
     * Of real readings, where there are any, or made ones, by chance.
     *
     * @return whether they are real
     */
    static boolean writeAny(Path folder, Random random) throws Exception {
        Optional<List<RealReadings.Reading>> real =
                random.nextBoolean() ? RealReadings.some(random, ROWS) : Optional.empty();
        if (real.isPresent()) {
            writeReal(folder, real.get(), random);
        } else {
            write(folder, random);
        }
        return real.isPresent();
    }

    /** Real readings, of which some come twice, some before the one before them, and some are NaN. */
    private static void writeReal(Path folder, List<RealReadings.Reading> readings, Random random) throws Exception {
        List<RealReadings.Reading> rows = new ArrayList<>();
        boolean hasNan = random.nextInt(3) == 0;
        for (RealReadings.Reading reading : readings) {
            boolean isNan = hasNan && random.nextInt(100) == 0;
            rows.add(
                    isNan
                            ? new RealReadings.Reading(
                                    reading.micros(), OptionalDouble.of(Double.NaN), reading.load(), reading.text())
                            : reading);
            int dirt = random.nextInt(60);
            if (dirt == 0) {
                rows.add(reading);
            } else if (dirt == 1 && rows.size() > 1) {
                Collections.swap(rows, rows.size() - 1, rows.size() - 2);
            }
        }
        List<String> lines = new ArrayList<>(List.of("time,temp,load,room,door"));
        Files.deleteIfExists(folder.resolve("s.sketch"));
        try (SketchFileWriter file = SketchFileWriter.create(folder.resolve("s.sketch"), true)) {
            StreamEncoder encoder = new StreamEncoder(
                    schema(),
                    EncoderOptions.defaults().withSegmentRows(64 + random.nextInt(900)),
                    segment -> file.add(segment.bytes()));
            long door = 0;
            for (RealReadings.Reading reading : rows) {
                door = random.nextInt(30) == 0 ? 1 - door : door;
                Observations row = encoder.row(reading.micros());
                reading.value().ifPresent(value -> row.number(0, value));
                reading.load().ifPresent(load -> row.whole(1, Math.round(load)));
                if (!reading.text().isEmpty()) {
                    row.text(2, reading.text());
                }
                row.whole(3, door);
                lines.add(reading.micros() + ","
                        + (reading.value().isPresent() ? reading.value().getAsDouble() : "") + ","
                        + (reading.load().isPresent()
                                ? Math.round(reading.load().getAsDouble())
                                : "") + ","
                        + reading.text() + "," + door);
            }
            encoder.flush();
        }
        Files.write(folder.resolve("exact.csv"), lines);
    }

    /** A file of sketches of made rows, and a CSV file of what went in. */
    static void write(Path folder, Random random) throws Exception {
        List<String> lines = new ArrayList<>(List.of("time,temp,load,room,door"));
        Files.deleteIfExists(folder.resolve("s.sketch"));
        try (SketchFileWriter file = SketchFileWriter.create(folder.resolve("s.sketch"), true)) {
            StreamEncoder encoder = new StreamEncoder(
                    schema(),
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
