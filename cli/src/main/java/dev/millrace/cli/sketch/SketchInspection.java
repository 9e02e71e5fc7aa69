package dev.millrace.cli.sketch;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bins.Scale;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.csv.TimeText;
import dev.millrace.sketch.file.SketchFile;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.time.Times;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** {@code sketch inspect}: one line for the file, one for each segment, and how the features of the first are stored. */
final class SketchInspection {
    private final PrintStream out;
    private int segments;
    private long rows;
    private long bytes;
    private Optional<Sketch> last = Optional.empty();

    SketchInspection(PrintStream out) {
        this.out = out;
    }

    void inspect(Path path) {
        SketchFile file = SketchFile.read(path);
        out.printf(
                "%8s %8s %8s %8s  %-26s %-26s %s%n",
                "segment", "version", "rows", "bytes", "first time", "last time", "form");
        file.forEach((segment, sketch) -> {
            segments++;
            rows += sketch.rows();
            bytes += segment.length;
            last = Optional.of(sketch);
            String time = sketch.times() instanceof Times.Regular ? "regular" : "irregular";
            out.printf(
                    "%8d %8d %8d %8d  %-26s %-26s %s, %s time%n",
                    segments,
                    SketchHeader.of(segment).version(),
                    sketch.rows(),
                    segment.length,
                    time(file, sketch, 0),
                    time(file, sketch, sketch.rows() - 1),
                    sketch.joint().isPresent() ? sketch.joint().get().counts().length + " combinations" : "columns",
                    time);
        });
        last.ifPresent(this::features);
        out.printf(
                Locale.ROOT,
                "%s: %,d segments, %,d observations, %,d bytes, %.3f per observation%n",
                path,
                segments,
                rows,
                bytes,
                rows == 0 ? 0 : bytes / (double) rows);
    }

    private static String time(SketchFile file, Sketch sketch, int row) {
        return TimeText.format(
                sketch.times().at(row),
                sketch.schema().ticksPerSecond(),
                file.timestamps() ? TimeText.Form.TIMESTAMP : TimeText.Form.NUMBER);
    }

    private void features(Sketch sketch) {
        out.println("In the last segment:");
        for (int f = 0; f < sketch.schema().size(); f++) {
            Column column = sketch.column(f);
            out.printf(
                    Locale.ROOT,
                    "  %-24s %d symbols, %d NULL, %s%s%n",
                    sketch.schema().feature(f).name(),
                    column.symbols().size(),
                    column.nullCount(),
                    column.sequence().inRuns() ? column.sequence().runs().count() + " runs" : "a coded sequence",
                    column.symbols() instanceof NumberSymbols numbers ? bins(numbers) : "");
        }
    }

    private static String bins(NumberSymbols numbers) {
        if (numbers.size() == 0) {
            return "";
        }
        Scale scale = numbers.scale();
        String kind = scale instanceof Scale.Grid grid
                ? "bins " + Bound.absolute(grid.step()) + " apart"
                : scale instanceof Scale.Whole whole
                        ? "whole numbers " + whole.step() + " apart"
                        : scale instanceof Scale.Decimal decimal
                                ? "decimal numbers of " + decimal.digits() + " digits"
                                : scale instanceof Scale.Table ? "equally likely bins" : "values as they are";
        return String.format(Locale.ROOT, ", %s, at most %s off", kind, Bound.absolute(numbers.error()));
    }
}
