package dev.millrace.cli.sketch;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.csv.CsvOutput;
import dev.millrace.sketch.file.SketchFile;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace sketch encode|decode|inspect}. Exit codes: 0, 1 after an error, 2 for wrong arguments. */
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

    private void decode(ParseResult arguments, Path path) throws IOException {
        SketchFile file = SketchFile.read(path);
        String target = arguments.matchedOptionValue("--output", "");
        OutputStream to = target.isEmpty() ? out : Files.newOutputStream(Path.of(target));
        Writer writer = new BufferedWriter(new OutputStreamWriter(to, StandardCharsets.UTF_8), 1 << 16);
        try {
            Versions versions = new Versions();
            CsvOutput csv = new CsvOutput(writer, file.timestamps());
            boolean first = true;
            for (byte[] segment : file.segments()) {
                Sketch sketch = SegmentCodec.read(segment, versions);
                if (first) {
                    csv.header(sketch.schema());
                    first = false;
                }
                csv.rows(sketch);
            }
        } finally {
            writer.flush();
            if (!target.isEmpty()) {
                writer.close();
            }
        }
    }
}
