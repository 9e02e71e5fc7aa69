package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.sketch.csv.CsvOutput;
import dev.millrace.sketch.file.SketchFile;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Form;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.type.DataType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files that each format version wrote, with what was read from them then. The newest version's are written by this test
 * with {@code -Dmillrace.golden.update=true}, if they are not there; the others never change.
 */
class FormatFixtureTest {
    private static final int NEWEST = 2;
    private static final Path FIXTURES = Path.of("src", "test", "resources", "formats");
    private static final List<String> NAMES = List.of("columns", "index", "chain");

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void filesOfEveryVersionAreRead(int version) throws IOException {
        if (version == NEWEST && Boolean.getBoolean("millrace.golden.update")) {
            writeNewest();
        }
        for (String name : NAMES) {
            Path folder = FIXTURES.resolve("" + version);
            assertEquals(Files.readString(folder.resolve(name + ".csv")), text(folder.resolve(name + ".sketch")), name);
        }
    }

    private static String text(Path path) throws IOException {
        SketchFile file = SketchFile.read(path);
        StringBuilder text = new StringBuilder();
        CsvOutput csv = new CsvOutput(text, file.timestamps());
        List<Sketch> sketches = new ArrayList<>();
        file.forEach((bytes, sketch) -> sketches.add(sketch));
        for (Sketch sketch : sketches) {
            csv.rows(sketch);
        }
        return text.toString();
    }

    static void writeNewest() throws IOException {
        Path folder = Files.createDirectories(FIXTURES.resolve("" + NEWEST));
        for (String name : NAMES) {
            Path path = folder.resolve(name + ".sketch");
            if (!Files.exists(path)) {
                new SketchFile(true, segments(name)).write(path);
                Files.writeString(folder.resolve(name + ".csv"), text(path));
            }
        }
    }

    private static List<byte[]> segments(String name) {
        List<Feature> features = List.of(
                Feature.number("range", Bound.ofRange(.02)),
                Feature.number("absolute", Bound.absolute(.5)),
                Feature.number("likely", Bound.absolute(.5)).withBinning(Binning.EQUAL_PROBABILITY),
                new Feature("real", DataType.REAL, Bound.exact(), Binning.SMALLEST),
                Feature.whole("whole", Bound.absolute(2)),
                Feature.bool("bool"),
                Feature.text("text"));
        SketchSchema schema = new SketchSchema("at", 1_000_000, name.equals("chain") ? 500 : 0, features);
        EncoderOptions options = EncoderOptions.defaults().withSegmentRows(100);
        options = switch (name) {
            case "index" -> options.withForm(Form.INDEX).selfContained(true);
            case "chain" -> options.withKeep(Keep.ARCHIVAL);
            default -> options;
        };
        Random random = new Random(17);
        List<byte[]> segments = new ArrayList<>();
        StreamEncoder encoder = new StreamEncoder(schema, options, segment -> segments.add(segment.bytes()));
        for (int i = 0; i < 450; i++) {
            long jitter = name.equals("columns") ? 0 : random.nextInt(400);
            Observations row = encoder.row(1_800_000_000_000_000L + i * 100_000L + jitter);
            row.number(0, i % 50 + random.nextInt(1 + i / 20))
                    .number(1, 20 * Math.sin(i / 30.0))
                    .number(2, i % 90 == 1 ? 300 + i : random.nextGaussian() * 3);
            if (i % 7 != 0) {
                row.number(3, i % 12 / 4f).whole(4, i / 3 * 3 + 7).bool(5, i % 40 < 20);
            }
            if (i % 11 != 5) {
                row.text(6, i % 60 < 30 ? "é" : "idle, and \"quoted\"");
            }
        }
        encoder.flush();
        return segments;
    }
}
