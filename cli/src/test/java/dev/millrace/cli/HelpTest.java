package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** What {@code --help} says. */
class HelpTest {
    @Test
    void eachNameOfAnOptionIsToldOnce() {
        for (OptionSpec option : ServerCommand.spec().options()) {
            List<String> names = List.of(option.names());
            assertEquals(Set.copyOf(names).size(), names.size(), names::toString);
        }
        String help = new CommandLine(ServerCommand.spec()).getUsageMessage();
        assertTrue(help.contains("  -p, --port=N"), help);
        assertTrue(help.contains("      --config=FILE"), help);
    }
}
