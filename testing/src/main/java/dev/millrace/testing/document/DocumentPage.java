package dev.millrace.testing.document;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of the folder {@code docs}, for tests of modules, which run in their own folders. It is made of sections, each below a title {@code ## title}
 * and with what is below it; examples are blocks of SQL. Immutable.
 */
public final class DocumentPage {
    private static final Pattern TITLE = Pattern.compile("^## (.*)$", Pattern.MULTILINE);
    private static final Pattern EXAMPLE = Pattern.compile("```sql\n(.*?)```", Pattern.DOTALL);
    private static final Pattern END = Pattern.compile(";[ \t]*(--[^\n]*)?(\n|$)");
    private static final Pattern CELLS = Pattern.compile("(?<!\\\\)\\|");

    private final Map<String, String> sections = new LinkedHashMap<>();

    private DocumentPage(String text) {
        Matcher title = TITLE.matcher(text);
        List<Integer> starts = new ArrayList<>();
        List<String> titles = new ArrayList<>();
        while (title.find()) {
            starts.add(title.start());
            titles.add(title.group(1));
        }
        starts.add(text.length());
        for (int i = 0; i < titles.size(); i++) {
            sections.put(titles.get(i), text.substring(starts.get(i), starts.get(i + 1)));
        }
    }

    /** The page of connectors. */
    public static DocumentPage connectors() {
        return of("connectors.md");
    }

    /** @param name of its file */
    public static DocumentPage of(String name) {
        try {
            return new DocumentPage(Files.readString(Path.of("..", "docs", name)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The titles of its sections, in its order. */
    public List<String> titles() {
        return List.copyOf(sections.keySet());
    }

    /** The text of one. */
    public String section(String title) {
        assertTrue(sections.containsKey(title), () -> "no section \"" + title + "\" in " + titles());
        return sections.get(title);
    }

    /** The blocks of SQL of a section, one text each. */
    public List<String> examples(String title) {
        return EXAMPLE.matcher(section(title))
                .results()
                .map(example -> example.group(1))
                .toList();
    }

    /** The statements of all its blocks, one after the other, without what ends them; fails where there is none. */
    public List<String> statements(String title) {
        List<String> statements = examples(title).stream()
                .flatMap(example -> Stream.of(END.split(example)))
                .filter(statement -> !statement.isBlank())
                .toList();
        assertFalse(statements.isEmpty(), () -> "no examples in \"" + title + "\"");
        return statements;
    }

    /** Its tables, each of rows of cells without the blanks around them; the first row has the titles of columns. */
    public List<List<List<String>>> tables(String title) {
        List<List<List<String>>> tables = new ArrayList<>();
        boolean isInTable = false;
        for (String line : section(title).lines().toList()) {
            if (line.startsWith("|") && !isInTable) {
                tables.add(new ArrayList<>());
            }
            isInTable = line.startsWith("|");
            if (isInTable && !line.startsWith("| ---")) {
                tables.get(tables.size() - 1)
                        .add(Arrays.stream(CELLS.split(line.substring(1)))
                                .map(String::strip)
                                .toList());
            }
        }
        return tables;
    }
}
