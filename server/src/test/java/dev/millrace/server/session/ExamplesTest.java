package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is in {@code server/examples} compiles, runs and says what it should. */
@Timeout(120)
class ExamplesTest {
    private static final Path EXAMPLES = Path.of("examples").toAbsolutePath();

    @TempDir
    private Path classes;

    private String run(String name) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int outcome = compiler.run(
                null,
                errors,
                errors,
                "-Xlint:all,-classfile,-processing",
                "-proc:none",
                "-d",
                classes.toString(),
                EXAMPLES.resolve(name + ".java").toString());
        assertEquals(0, outcome, errors.toString(StandardCharsets.UTF_8));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream before = System.out;
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            loader.loadClass(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } finally {
            System.setOut(before);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void totals() throws Exception {
        List<String> lines = run("Totals").lines().toList();
        assertEquals(Set.of("+ north 2 400", "+ south 1 200"), Set.copyOf(lines.subList(0, 2)), lines.toString());
        assertEquals(List.of("north sold for 400", "south sold for 200"), lines.subList(2, 4));
        assertEquals(List.of("the end: the database is closed"), lines.subList(4, lines.size()));
    }

    @Test
    void everyExampleIsRunHere() throws Exception {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            Set<String> names = files.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
            assertTrue(Set.of("Totals.java", "plugin").containsAll(names), names.toString());
        }
    }
}
