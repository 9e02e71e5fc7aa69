package dev.millrace.cli.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;

/** {@code millrace sketch} from its arguments to its files. */
final class SketchCommandTest {
    @TempDir
    Path folder;

    private Path csv;
    private Path sketch;
    private String printed;
    private String complaint;

    @BeforeEach
    void writeInput() throws IOException {
        csv = folder.resolve("day.csv");
        sketch = folder.resolve("day.sketch");
        List<String> lines = new ArrayList<>(List.of("time,load,room"));
        for (int i = 0; i < 3_000; i++) {
            String load = i % 100 == 7 ? "" : String.valueOf(Math.round(1000 * Math.sin(i / 200.0)) / 10.0);
            lines.add("2026-03-01 %02d:%02d:%02d,%s,%s"
                    .formatted(i / 3600, i / 60 % 60, i % 60, load, i % 50 < 30 ? "hall" : "lab"));
        }
        Files.write(csv, lines);
    }

    private int run(Object... arguments) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        String[] texts = Arrays.stream(arguments).map(String::valueOf).toArray(String[]::new);
        int code = SketchCommand.run(
                new CommandLine(SketchCommand.spec()).parseArgs(texts),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        printed = out.toString(StandardCharsets.UTF_8);
        complaint = err.toString(StandardCharsets.UTF_8);
        return code;
    }

    @Test
    void binsAreDrawnAgainstTheDensityOfTheirNumbers() throws IOException {
        Path png = folder.resolve("bins.png");
        assertEquals(0, run("encode", "--bound", "5", "--png", png, csv), () -> complaint);
        BufferedImage picture = ImageIO.read(png.toFile());
        assertEquals(BinPicture.WIDTH, picture.getWidth());
        assertEquals(BinPicture.PANEL_HEIGHT, picture.getHeight()); // of load alone: room is no number
        int middle = picture.getHeight() / 2;
        int edges = 0;
        boolean inEdge = false;
        for (int x = 0; x < picture.getWidth(); x++) {
            Color colour = new Color(picture.getRGB(x, middle));
            boolean isOrange = colour.getRed() > colour.getBlue() + 20;
            edges += isOrange && !inEdge ? 1 : 0;
            inEdge = isOrange;
        }
        assertTrue(edges >= 18 && edges <= 22, edges + " edges of bins of 10 from -100 to 100");
    }

    @Test
    void aStreamWithoutNumbersHasNoPictureOfItsBins() throws IOException {
        Files.write(csv, List.of("time,room", "2026-03-01 00:00:00,hall", "2026-03-01 00:00:01,lab"));
        assertEquals(1, run("encode", "--png", folder.resolve("bins.png"), csv));
        assertTrue(complaint.contains("there is no number to be drawn"), complaint);
    }

    @Test
    void whatIsDecodedIsWithinTheBoundOfWhatWasEncoded() throws IOException {
        assertEquals(0, run("encode", "--bound", ".5", csv), () -> complaint);
        assertTrue(Files.size(sketch) < Files.size(csv) / 10, "day.sketch has " + Files.size(sketch) + " bytes");
        assertEquals(0, run("decode", sketch), () -> complaint);
        List<String> before = Files.readAllLines(csv);
        List<String> after = printed.lines().toList();
        assertEquals(before.size(), after.size());
        assertEquals(before.get(0), after.get(0));
        for (int i = 1; i < before.size(); i++) {
            String[] was = before.get(i).split(",");
            String[] is = after.get(i).split(",");
            assertEquals(was[0], is[0]);
            assertEquals(was[2], is[2]);
            assertEquals(was[1].isEmpty(), is[1].isEmpty());
            if (!was[1].isEmpty()) {
                assertEquals(Double.parseDouble(was[1]), Double.parseDouble(is[1]), .5 + 1e-9);
            }
        }
    }

    @Test
    void decodingIntoAFileGivesTheSame() throws IOException {
        run("encode", "--bound", "0", csv);
        Path back = folder.resolve("back.csv");
        assertEquals(0, run("decode", "-o", back, sketch), () -> complaint);
        assertEquals("", printed);
        assertEquals(Files.readAllLines(csv), Files.readAllLines(back));
    }

    @Test
    void inspectingTellsTimesAndBounds() throws IOException {
        run("encode", "--bound", ".5", csv);
        assertEquals(0, run("inspect", sketch), () -> complaint);
        assertTrue(printed.contains("2026-03-01 00:00:00"), printed);
        assertTrue(printed.contains("2026-03-01 00:49:59"), printed);
        assertTrue(printed.contains("at most 0.5 off"), printed);
        assertTrue(printed.contains("3 segments, 3,000 observations"), printed);
    }

    @Test
    void aFailureIsOneLineAndLeavesWhatWasThere() throws IOException {
        run("encode", csv);
        byte[] before = Files.readAllBytes(sketch);
        assertEquals(1, run("encode", "--bound", "much", csv));
        assertTrue(complaint.startsWith("millrace sketch: "), complaint);
        assertEquals(1, run("encode", folder.resolve("nowhere.csv")));
        assertTrue(complaint.contains("nowhere.csv"), complaint);
        assertEquals(1, run("decode", csv));
        assertTrue(complaint.contains("day.csv"), complaint);
        byte[] damaged = before.clone();
        damaged[damaged.length - 3] ^= 4;
        Files.write(folder.resolve("damaged.sketch"), damaged);
        assertEquals(1, run("decode", folder.resolve("damaged.sketch")));
        assertEquals(
                1,
                complaint
                        .lines()
                        .filter(line -> line.startsWith("millrace sketch: "))
                        .count(),
                complaint);
        assertEquals(Arrays.toString(before), Arrays.toString(Files.readAllBytes(sketch)));
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(
                    List.of(),
                    left.filter(file -> file.toString().endsWith(".unfinished")).toList());
        }
    }

    /** A folder where the file should come: the new sketch was written beside it, and cannot take its place. */
    @Test
    void whatCannotTakeItsPlaceLeavesNothingBehind() throws IOException {
        Files.createDirectories(sketch.resolve("occupied"));
        assertEquals(1, run("encode", csv));
        assertTrue(complaint.contains("cannot write"), complaint);
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(
                    List.of("day.csv", "day.sketch"),
                    left.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }

    @Test
    void aFileThatWasCutSaysSoAndIsRecovered() throws IOException {
        run("encode", "--bound", "0", csv);
        byte[] whole = Files.readAllBytes(sketch);
        Files.write(sketch, Arrays.copyOf(whole, whole.length * 2 / 3));
        assertEquals(1, run("decode", sketch));
        assertTrue(complaint.contains("day.sketch was cut behind segment"), complaint);
        assertTrue(complaint.contains("HINT:  ./millrace sketch recover"), complaint);
        assertEquals(0, run("recover", sketch), () -> complaint);
        assertTrue(printed.contains("segments are whole"), printed);
        assertEquals(0, run("decode", sketch), () -> complaint);
        List<String> back = printed.lines().toList();
        assertTrue(back.size() > 1000 && back.size() < 3001, back.size() + " lines");
        assertEquals(Files.readAllLines(csv).subList(0, back.size()), back);
    }

    @Test
    void timesWithTheDayFirstAreTimesAndOtherFormsAreMentioned() throws IOException {
        List<String> lines = new ArrayList<>(List.of("wann,wert,am"));
        for (int i = 0; i < 100; i++) {
            lines.add("%02d.03.2026 08:%02d:30,%d,%d/3/2026".formatted(1 + i / 60, i % 60, i, 1 + i % 28));
        }
        Files.write(csv, lines);
        assertEquals(0, run("encode", csv), () -> complaint);
        assertTrue(printed.contains("am looks like times, in a form that is not known"), printed);
        assertFalse(printed.contains("wann looks like"), printed);
        assertEquals(0, run("inspect", sketch), () -> complaint);
        assertTrue(printed.contains("2026-03-01 08:00:30"), printed);
        assertTrue(printed.contains("2026-03-02 08:39:30"), printed);
    }

    @Test
    void withoutAFileThereIsAnErrorAndNoSilence() {
        for (String command : List.of("encode", "decode", "inspect", "recover")) {
            assertThrows(MissingParameterException.class, () -> run(command), command);
        }
    }
}
