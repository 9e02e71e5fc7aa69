package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connectors.Connectors;
import dev.millrace.server.device.EdgeInlets;
import dev.millrace.server.device.EdgeSourceFactory;
import dev.millrace.server.device.SegmentFormatFactory;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.document.OptionTables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/connectors.md has each connector with all its options and their defaults, and no other, and each of its examples is run by a test: that of the
 * section, which asks for its statements by its title. And each connector of the page is held to its contract by a conformance suite.
 */
class ConnectorsPageTest {
    private static final DocumentPage PAGE = DocumentPage.connectors();
    private static final Pattern CONFORMANCE = Pattern.compile("\n@ConformanceOf\\(([^)]*)\\)");
    private static final String CHANGES = "Tables of changes";

    /** Which connectors are held to no contract by faults, and why. */
    private static final Map<String, String> UNHELD = Map.of(
            "source system",
            "what a machine says of itself at a moment nobody can ask for again",
            "sink blackhole",
            "it keeps nothing",
            "table mysql-cdc",
            "there is no MySQL at hand; the code is that of mariadb-cdc",
            "table file",
            "it reads files once, by the positions of source file, and keeps a table as kafka does");

    /** Sections that say what those of others do, of the same client. */
    private static final Map<String, String[]> ALSO = Map.of(
            "Sink `file`",
            new String[] {"Source `file`"}, // the options of stores
            "Sink `mqtt`",
            new String[] {"Source `mqtt`"}, // and of brokers
            "Table `jdbc`",
            new String[] {"Sink `jdbc`"}, // and of databases
            CHANGES,
            new String[] {"Source `kafka`", "Source `file`"});

    private static String sectionOf(String kind, String name) {
        List<String> titles = PAGE.titles().stream()
                .filter(title -> title.matches(kind + "s? .*") && title.contains("`" + name + "`"))
                .toList();
        assertEquals(1, titles.size(), () -> kind + " " + name + " is described in " + titles);
        return titles.get(0);
    }

    @Test
    void eachConnectorIsDescribedWithAllItsOptionsAndTheirDefaults() {
        Connectors connectors = Connectors.standard(System.out);
        Map<String, List<OptionDescription>> options = new LinkedHashMap<>();
        BiConsumer<String, List<OptionDescription>> add = (section, more) ->
                options.computeIfAbsent(section, s -> new ArrayList<>()).addAll(more);
        connectors.sources().forEach(each -> add.accept(sectionOf("Source", each.name()), each.options()));
        connectors.sinks().forEach(each -> add.accept(sectionOf("Sink", each.name()), each.options()));
        add.accept(sectionOf("Source", "sketch"), connectors.source("sketch").options());
        add.accept(sectionOf("Table", "jdbc"), connectors.feed("jdbc").options());
        add.accept(CHANGES, connectors.feed("kafka").options());
        add.accept(CHANGES, connectors.feed("file").options());
        OptionTables tables = new OptionTables(PAGE);
        options.forEach(
                (section, described) -> tables.describe(described, section, ALSO.getOrDefault(section, new String[0])));
    }

    @Test
    void eachFormatIsDescribedWithAllItsOptionsAndTheirDefaults() {
        List<OptionDescription> options = new ArrayList<>();
        Connectors.formats().all().forEach(format -> {
            assertTrue(PAGE.section("Formats of records").contains("`" + format.name() + "`"), format::name);
            options.addAll(format.options());
        });
        new OptionTables(PAGE).describe(options, "Formats of records");
        new OptionTables(PAGE).describe(new SegmentFormatFactory().options(), "Format `sketch`");
    }

    @Test
    void theSourceOfDevicesIsDescribedWithItsAgents() {
        new OptionTables(DocumentPage.of("edge.md"))
                .describe(new EdgeSourceFactory(new EdgeInlets()).options(), "The server");
    }

    @Test
    void eachSectionWithExamplesHasATestThatRunsThem() throws IOException {
        String tests = String.join("\n", tests());
        assertEquals(
                List.of(),
                PAGE.titles().stream()
                        .filter(title -> !PAGE.examples(title).isEmpty())
                        .filter(title -> !Pattern.compile("statements\\(\\s*\"" + Pattern.quote(title) + "\"\\)")
                                .matcher(tests)
                                .find())
                        .toList(),
                "no test runs the examples of these sections");
    }

    @Test
    void eachConnectorIsHeldToItsContractByATestThatCatchesFaults() throws IOException {
        Set<String> held = new TreeSet<>();
        for (String test : tests()) {
            Matcher named = CONFORMANCE.matcher(test);
            if (named.find() && test.contains("catches(fault)")) {
                Pattern.compile("\"([^\"]+)\"")
                        .matcher(named.group(1))
                        .results()
                        .forEach(name -> held.add(name.group(1)));
            }
        }
        Set<String> all = new TreeSet<>(List.of("table kafka", "table file")); // tables of changes
        for (String title : PAGE.titles()) {
            Matcher kind = Pattern.compile("(Source|Sink|Table)s? (.*`.*)").matcher(title);
            if (kind.matches()) {
                Pattern.compile("`([^`]+)`")
                        .matcher(kind.group(2))
                        .results()
                        .forEach(name -> all.add(kind.group(1).toLowerCase(Locale.ROOT) + " " + name.group(1)));
            }
        }
        Set<String> unheld = new TreeSet<>(all);
        unheld.removeAll(held);
        assertEquals(new TreeSet<>(UNHELD.keySet()), unheld, "these are held to no contract");
        held.removeAll(all);
        assertEquals(Set.of(), held, "these are no connectors of the page");
    }

    /** The texts of all tests of all modules. */
    private static List<String> tests() throws IOException {
        List<String> tests = new ArrayList<>();
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(Path.of(".."), "[a-z]*")) {
            for (Path module : modules) {
                Path sources = module.resolve("src/test/java");
                if (Files.isDirectory(sources)) {
                    try (Stream<Path> files = Files.walk(sources)) {
                        files.filter(file -> file.toString().endsWith("Test.java"))
                                .forEach(file -> tests.add(text(file)));
                    }
                }
            }
        }
        return tests;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
