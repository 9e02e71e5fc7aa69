package dev.millrace.cli.sketch;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.csv.CsvStream;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Form;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * What {@code sketch encode} was asked for.
 *
 * @param output where to write; empty for beside the input
 * @param picture where to write a picture of the bins; empty for none
 */
record EncodeOptions(CsvStream.Options csv, EncoderOptions encoder, int rows, String output, String picture) {
    static void declare(CommandSpec spec) {
        spec.addOption(text("--time", "COLUMN", "The time's column (default: found by name or values)."));
        spec.addOption(text("--time-bound", "SECONDS", "How far times may be off (default: 0, exact)."));
        spec.addOption(
                text("--bound", "BOUND", "How far numbers may be off: 1%% of their range (default), .5, 0 for exact."));
        spec.addOption(OptionSpec.builder("--column-bound")
                .paramLabel("COLUMN=BOUND")
                .description("The bound of one column; may be repeated.")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .build());
        spec.addOption(text("--bins", "BINS", "smallest (default), equal-width, overlapping, equal-probability."));
        spec.addOption(text("--keep", "FOR", "queryable (default) or archival."));
        spec.addOption(text("--form", "FORM", "smallest (default), columns, runs or index."));
        spec.addOption(text("--segment", "ROWS", "Observations of a segment (default: 1024)."));
        spec.addOption(text("--rows", "N", "Read no more rows than this."));
        spec.addOption(OptionSpec.builder("--self-contained")
                .description("Let each segment be readable alone.")
                .type(boolean.class)
                .build());
        spec.addOption(OptionSpec.builder("-o", "--output")
                .paramLabel("FILE")
                .description("Where to write (default: beside the input, as .sketch).")
                .type(String.class)
                .build());
        spec.addOption(text("--png", "FILE", "Draw the bins against the density of each number."));
    }

    private static OptionSpec text(String name, String label, String description) {
        return OptionSpec.builder(name)
                .paramLabel(label)
                .description(description)
                .type(String.class)
                .build();
    }

    static EncodeOptions of(ParseResult arguments) {
        Map<String, Bound> bounds = new HashMap<>();
        for (String assignment : arguments.matchedOptionValue("--column-bound", List.<String>of())) {
            int at = assignment.lastIndexOf('=');
            if (at < 1) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "write --column-bound COLUMN=BOUND, not " + assignment);
            }
            bounds.put(assignment.substring(0, at), Bound.parse(assignment.substring(at + 1)));
        }
        CsvStream.Options csv = new CsvStream.Options(
                Optional.ofNullable(arguments.matchedOptionValue("--time", (String) null)),
                Bound.parse(arguments.matchedOptionValue("--bound", "1%")),
                bounds,
                choice(Binning.class, "--bins", arguments.matchedOptionValue("--bins", "smallest")),
                number(arguments.matchedOptionValue("--time-bound", "0"), "--time-bound"));
        EncoderOptions encoder = EncoderOptions.defaults()
                .withSegmentRows(number(arguments.matchedOptionValue("--segment", "1024"), "--segment")
                        .intValue())
                .withKeep(choice(Keep.class, "--keep", arguments.matchedOptionValue("--keep", "queryable")))
                .withForm(choice(Form.class, "--form", arguments.matchedOptionValue("--form", "smallest")))
                .selfContained(arguments.matchedOptionValue("--self-contained", false));
        int rows = number(arguments.matchedOptionValue("--rows", "2147483646"), "--rows")
                .intValue();
        return new EncodeOptions(
                csv,
                encoder,
                rows,
                arguments.matchedOptionValue("--output", ""),
                arguments.matchedOptionValue("--png", ""));
    }

    private static BigDecimal number(String text, String option) {
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, option + " takes a number, not " + text);
        }
    }

    private static <E extends Enum<E>> E choice(Class<E> type, String option, String text) {
        try {
            return Enum.valueOf(type, text.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException e) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, option + " does not know " + text);
        }
    }
}
