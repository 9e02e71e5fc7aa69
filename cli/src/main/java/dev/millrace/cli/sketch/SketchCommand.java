package dev.millrace.cli.sketch;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.csv.CsvOutput;
import dev.millrace.sketch.file.SketchFile;
import dev.millrace.sketch.file.SketchFiles;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace sketch encode|decode|inspect|recover}. Exit codes: 0, 1 after an error, 2 for wrong arguments. */
public final class SketchCommand {
    private final PrintStream out;

    private SketchCommand(PrintStream out) {
        this.out = out;
    }

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("sketch");
        spec.usageMessage().description("Keeps streams small, in order, and within a guaranteed error.");
        CommandSpec encode = sub("encode", "Turns CSV files into sketches, FILE.csv into FILE.sketch.");
        EncodeOptions.declare(encode);
        spec.addSubcommand("encode", encode);
        CommandSpec decode = sub("decode", "Prints the observations of sketches as CSV.");
        decode.addOption(OptionSpec.builder("-o", "--output")
                .paramLabel("FILE")
                .description("Write there instead of to standard output.")
                .type(String.class)
                .build());
        spec.addSubcommand("decode", decode);
        spec.addSubcommand("inspect", sub("inspect", "Says what is in sketches: segments, bins, sizes."));
        spec.addSubcommand(
                "recover",
                sub(
                        "recover",
                        "Makes whole what was cut or is damaged from some place on: keeps the segments before."));
        spec.addSubcommand(
                "compare", sub("compare", "Compares sizes with other compressions (see sketch compare --help)."));
        return spec;
    }

    private static CommandSpec sub(String name, String description) {
        CommandSpec spec = CommandSpec.create().name(name).mixinStandardHelpOptions(true);
        spec.usageMessage().description(description);
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("FILE")
                .arity("1..*")
                .required(true)
                .type(List.class)
                .auxiliaryTypes(String.class)
                .build());
        return spec;
    }

    /** Runs a sub-command on standard output; returns the exit code. */
    public static int run(ParseResult arguments) throws IOException {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        return run(arguments, out, System.err);
    }

    static int run(ParseResult arguments, PrintStream out, PrintStream err) throws IOException {
        if (!arguments.hasSubcommand()) {
            arguments.commandSpec().commandLine().usage(out);
            return 0;
        }
        ParseResult sub = arguments.subcommand();
        if (sub.isUsageHelpRequested()) {
            sub.commandSpec().commandLine().usage(out);
            return 0;
        }
        SketchCommand command = new SketchCommand(out);
        List<String> files = sub.matchedPositionalValue(0, List.of());
        try {
            for (String file : files) {
                switch (sub.commandSpec().name()) {
                    case "encode" -> new SketchEncoding(EncodeOptions.of(sub), command.out).encode(Path.of(file));
                    case "decode" -> command.decode(sub, Path.of(file));
                    case "recover" -> command.recover(Path.of(file));
                    case "inspect" -> new SketchInspection(command.out).inspect(Path.of(file));
                    default ->
                        throw MillraceException.user(
                                SqlState.FEATURE_NOT_SUPPORTED,
                                "compare is in the repository, not in what is shipped: ./millrace sketch compare");
                }
            }
            return 0;
        } catch (MillraceException e) {
            err.println("millrace sketch: " + e.getMessage());
            e.hint().ifPresent(hint -> err.println("HINT:  " + hint));
            return 1;
        } finally {
            out.flush();
        }
    }

    private void recover(Path path) {
        SketchFiles.Recovered recovered = SketchFiles.recover(path);
        out.printf(
                Locale.ROOT,
                "%s: %,d segments are whole; %,d bytes behind them were dropped%n",
                path,
                recovered.segments(),
                recovered.droppedBytes());
    }

    private void decode(ParseResult arguments, Path path) throws IOException {
        SketchFile file = SketchFile.read(path);
        String target = arguments.matchedOptionValue("--output", "");
        OutputStream to = target.isEmpty() ? out : Files.newOutputStream(Path.of(target));
        Writer writer = new BufferedWriter(new OutputStreamWriter(to, StandardCharsets.UTF_8), 1 << 16);
        try {
            CsvOutput csv = new CsvOutput(writer, file.timestamps());
            boolean[] begun = {false};
            file.forEach((segment, sketch) -> {
                try {
                    if (!begun[0]) {
                        csv.header(sketch.schema());
                        begun[0] = true;
                    }
                    csv.rows(sketch);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            writer.flush();
            if (!target.isEmpty()) {
                writer.close();
            }
        }
    }
}
