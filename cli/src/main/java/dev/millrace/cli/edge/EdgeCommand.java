package dev.millrace.cli.edge;

import dev.millrace.edge.agent.EdgeProgram;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace edge --config FILE}, and {@code millrace edge simulate}. Exit codes: 0 when all inputs have ended and all is sent, or when it is told to stop; 1 for an error. */
public final class EdgeCommand {
    private EdgeCommand() {}

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("edge");
        spec.usageMessage()
                .description(
                        "Reads what is measured here, keeps it as sketches on this machine's disk, and sends it to a server",
                        "whose --edge-port it knows (docs/edge.md).");
        spec.addOption(OptionSpec.builder("--config")
                .paramLabel("FILE")
                .description("The agent's configuration.")
                .type(String.class)
                .build());
        spec.addOption(OptionSpec.builder("--check")
                .description("Read the configuration, and leave.")
                .type(boolean.class)
                .build());
        spec.addSubcommand("simulate", SimulateCommand.spec());
        return spec;
    }

    /** Returns the exit code. */
    public static int run(ParseResult arguments) {
        if (arguments.hasSubcommand()) {
            return SimulateCommand.run(arguments.subcommand());
        }
        if (!arguments.hasMatchedOption("--config")) {
            return EdgeProgram.run(new String[0]); // which says what is missing
        }
        String config = arguments.matchedOptionValue("--config", "");
        return EdgeProgram.run(
                arguments.hasMatchedOption("--check")
                        ? new String[] {"--check", "--config", config}
                        : new String[] {"--config", config});
    }
}
