package dev.millrace.testing.document;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.connector.OptionDescription;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The tables of a section of a page that describe options: each begins with a row that names its columns, the first {@code option}, one {@code default}. */
public final class OptionTables {
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");
    private static final Pattern LINK = Pattern.compile("\\[([^\\]]*)\\]\\([^)]*\\)");

    /** What each stream, table or sink may have, and no connector reads. */
    private static final Set<String> COMMON = Set.of("on_error", "watermark.idle_timeout", "checkpoint_interval");

    /** What is said of the default of an option that has none. */
    private static final Set<String> NO_DEFAULT = Set.of("", "required", "empty text");

    private final DocumentPage page;

    /** An option as it is described. */
    private record Described(String name, String usual) {
        boolean is(OptionDescription option) {
            String expected = option.defaultValue();
            return name.equals(option.name()) && (expected.isEmpty() ? NO_DEFAULT.contains(usual) : says(expected));
        }

        private boolean says(String text) {
            return Pattern.compile("(?<!\\w)" + Pattern.quote(text) + "(?!\\w)")
                    .matcher(usual)
                    .find();
        }
    }

    public OptionTables(DocumentPage page) {
        this.page = page;
    }

    private List<Described> of(String title) {
        List<Described> all = new ArrayList<>();
        for (List<List<String>> table : page.tables(title)) {
            int name = table.get(0).indexOf("option");
            int usual = table.get(0).indexOf("default");
            if (name >= 0 && usual >= 0) {
                table.subList(1, table.size())
                        .forEach(row -> NAME.matcher(withoutLinks(row.get(name)))
                                .results()
                                .forEach(each -> all.add(new Described(
                                        each.group(1),
                                        withoutLinks(row.get(usual)).replace("`", "")))));
            }
        }
        return all;
    }

    private static String withoutLinks(String cell) {
        return LINK.matcher(cell).replaceAll("$1");
    }

    /**
     * Fails if an option is in no table of the section or of the others that it refers to, or only with another default; and if a table of the section has
     * an option that is not among these.
     */
    public void describe(List<OptionDescription> options, String section, String... others) {
        List<Described> own = of(section);
        List<Described> all = Stream.concat(Stream.of(section), Stream.of(others))
                .flatMap(title -> of(title).stream())
                .toList();
        assertEquals(
                List.of(),
                options.stream()
                        .filter(option -> all.stream().noneMatch(described -> described.is(option)))
                        .map(option -> option.name() + " (default: " + option.defaultValue() + ")")
                        .toList(),
                () -> "is not described in \"" + section + "\"");
        Set<String> names = options.stream().map(OptionDescription::name).collect(Collectors.toSet());
        assertEquals(
                List.of(),
                own.stream()
                        .map(Described::name)
                        .filter(name -> !names.contains(name) && !COMMON.contains(name))
                        .toList(),
                () -> "is described in \"" + section + "\", and there is no such option");
    }
}
