package dev.millrace.expressions.function.regex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.arrow.memory.ArrowBuf;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What PostgreSQL 15 finds, groups and all, and that nothing takes more than linear time. {@code regex-facts.txt} holds
 * random expressions and what PostgreSQL says of them; {@code -Dmillrace.regex.psql="psql -d postgres"} asks one that runs
 * about others, and {@code -Dmillrace.regex.facts=FILE} keeps its answers.
 */
@Tag("long")
class RegexMatcherTest {
    private static final int RUNS = Integer.getInteger("millrace.regex.runs", 5_000);
    private static final long SEED = Long.getLong("millrace.regex.seed", 1);
    private static final int LONG = 300_000; // characters: what is not linear never ends

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @Test
    void findsWhatPostgresFinds() throws IOException {
        try (InputStream facts = RegexMatcherTest.class.getResourceAsStream("regex-facts.txt")) {
            check(new String(facts.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList());
        }
    }

    @Test
    void findsWhatPostgresFindsNow(@TempDir Path directory) throws Exception {
        String psql = System.getProperty("millrace.regex.psql", "");
        Assumptions.assumeFalse(psql.isEmpty(), "no -Dmillrace.regex.psql to compare with PostgreSQL");
        Path given = Files.createTempFile("regex", ".txt"); // where another user may read it
        List<RegexCase> cases = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (int run = 0; run < RUNS; run++) {
            RegexCase each = RegexCase.random(new SplittableRandom(SEED + run));
            cases.add(each);
            lines.add(run + "\t" + each.line(""));
        }
        Files.write(given, lines);
        given.toFile().setReadable(true, false);
        String script;
        try (InputStream source = RegexMatcherTest.class.getResourceAsStream("regex-facts.sql")) {
            script = new String(source.readAllBytes(), StandardCharsets.UTF_8).replace("FILE", given.toString());
        }
        Path sql = Files.writeString(directory.resolve("facts.sql"), script);
        Process process = new ProcessBuilder("sh", "-c", psql + " -qAtX")
                .redirectInput(sql.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<String> results = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        Files.delete(given);
        assertEquals(RUNS, results.size());
        List<String> facts = new ArrayList<>();
        for (int run = 0; run < RUNS; run++) {
            facts.add(cases.get(run).line(RegexCase.plain(results.get(run))));
        }
        if (System.getProperty("millrace.regex.facts") != null) {
            Files.write(Path.of(System.getProperty("millrace.regex.facts")), facts);
        }
        check(facts);
    }

    private void check(List<String> facts) {
        List<String> wrong = new ArrayList<>();
        for (String fact : facts) {
            String[] parts = fact.split("\t", -1);
            RegexCase each = new RegexCase(parts[0], RegexCase.plain(parts[1]), RegexCase.plain(parts[2]));
            String found = each.matches(memory.allocator());
            if (!found.equals(RegexCase.plain(parts[3]))) {
                wrong.add(each + " wants " + parts[3] + " and finds " + RegexCase.escaped(found));
            }
        }
        assertEquals(List.of(), wrong.stream().limit(10).toList());
        assertTrue(facts.size() >= 1000, facts.size() + " facts");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(a+)+$",
                "(a|aa)+$",
                "(a?){30}a{30}$",
                "(a*)*$",
                "(a|a?)+$",
                "(.*a){12}$",
                "((a+)+)+c",
                "(a+)+?$",
                "a*a*a*a*a*a*a*$",
                "(?:a|ab|aab)*?$",
                "[^c]*[ab]*c",
                "(?=(a+)+$)a",
                "(?<=^(a|aa)+)c",
                "\\m(a+\\s?)+$",
                "(a{1,9}){1,9}$",
                "a+$|a+c"
            })
    void endsInTimeLinearInTheText(String pattern) {
        search(pattern, "a".repeat(LONG) + "b", false);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "^((a+)|b)*$",
                "^(a|aa)+b$",
                "^(a*)(a*)(a*)b$",
                "^((a*)b|(a+)+b)$",
                "^((a|a.*b)*)$",
                "^(a*?)(a*)b$",
                "^((a{1,2}){1,2}|b)*$",
                "^(((a)*)*b)?$",
                "^(.*)(a|b)+$"
            })
    void dividesAmongGroupsInTimeLinearInTheText(String pattern) {
        assertTrue(search(pattern, "a".repeat(LONG) + "b", true));
    }

    @Test
    void searchesForBackReferencesWithinABudget() {
        String pattern = "^(a*)(a*)(a*)(a*)(a*)\\5\\4\\3\\2\\1c|b";
        MillraceException error =
                assertThrows(MillraceException.class, () -> search(pattern, "a".repeat(2000) + "cd", false));
        assertEquals(SqlState.STATEMENT_TOO_COMPLEX, error.sqlState());
        assertTrue(error.hint().isPresent());
        assertTrue(search("(\\w+) \\1", "x ".repeat(LONG) + "yes yes", true), "what finds its way is not limited");
    }

    @ParameterizedTest
    @ValueSource(strings = {"(a+)+$", "(a*)\\1c", "a+c", "(?<=b.*)c", "^((a|b)*)$"})
    void isInterrupted(String pattern) {
        Interrupt interrupt = new Interrupt();
        interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "enough"));
        try (Interrupt.Binding ignored = interrupt.bind()) {
            MillraceException error =
                    assertThrows(MillraceException.class, () -> search(pattern, "a".repeat(LONG) + "c", true));
            assertEquals("enough", error.getMessage());
        }
    }

    @Test
    void refusesWhatIsTooComplex() {
        for (String pattern : List.of(
                "(".repeat(100_000) + ")".repeat(100_000),
                "((a{255}){255}){255}",
                "(?:".repeat(600) + "a" + ")".repeat(600),
                "(a)".repeat(3000),
                "(a)" + "(\\1\\1)(\\2\\2)(\\3\\3)(\\4\\4)(\\5\\5)(\\6\\6)(\\7\\7)(\\8\\8)".repeat(3))) {
            String what = pattern.substring(0, Math.min(40, pattern.length()));
            try {
                Regex.compile(pattern, RegexFlags.NONE);
                assertTrue(pattern.length() < 1000, what);
            } catch (MillraceException e) {
                assertEquals(SqlState.INVALID_REGULAR_EXPRESSION, e.sqlState(), what);
            }
        }
    }

    @Test
    void goesOnWhenItsMemoryForStatesIsFull() {
        SplittableRandom random = new SplittableRandom(SEED);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 200_000; i++) {
            text.append(random.nextBoolean() ? 'a' : 'b');
        }
        // Each text of the last 18 letters is a state of its own.
        assertFalse(search("a[ab]{17}c", text.toString(), false));
        assertTrue(search("(a[ab]{17})c", text + "a" + "b".repeat(17) + "c", true));
    }

    private boolean search(String pattern, String text, boolean groups) {
        RegexMatcher matcher = new RegexMatcher(Regex.compile(pattern, RegexFlags.NONE));
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (ArrowBuf buffer = memory.allocator().buffer(bytes.length + 1L)) {
            Memory.copyIn(bytes, 0, buffer.memoryAddress(), bytes.length);
            matcher.reset(buffer.memoryAddress(), bytes.length);
            boolean matches = matcher.matches();
            assertEquals(matches, matcher.find(0));
            for (int group = 1; matches && groups && group <= matcher.groups(); group++) {
                assertTrue(matcher.start(group) <= matcher.end(group));
            }
            return matches;
        }
    }
}
