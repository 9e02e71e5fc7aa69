package dev.millrace.cli.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.server.operation.DirectoryReport;
import dev.millrace.server.operation.DirectoryVerification;
import java.io.PrintStream;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace verify DIR}. Exit codes: 0 if all is whole, 1 if something is damaged or cannot be read, 2 for wrong arguments. */
public final class VerifyCommand {
    private VerifyCommand() {}

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("verify");
        spec.usageMessage()
                .description(
                        "Reads every byte of a data directory, and says of each file what is in it and whether it is whole.",
                        "Changes nothing, and may run while a server has the directory open.");
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("DIR")
                .description("The data directory.")
                .arity("1")
                .required(true)
                .type(String.class)
                .build());
        spec.addOption(OptionSpec.builder("--json")
                .description("Print one object of JSON.")
                .type(boolean.class)
                .build());
        return spec;
    }

    /** Returns the exit code. */
    public static int run(ParseResult arguments, PrintStream out, PrintStream err) {
        try {
            DirectoryReport report = DirectoryVerification.run(Path.of(arguments.matchedPositionalValue(0, "")));
            if (arguments.hasMatchedOption("--json")) {
                out.println(report.json());
            } else {
                out.print(report.text());
            }
            out.flush();
            return report.isWhole() ? 0 : 1;
        } catch (MillraceException e) {
            err.println("millrace verify: " + e.getMessage());
            return 1;
        }
    }
}
