package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** The example of a plugin in {@code server/examples/plugin}, compiled and packed as its author would. */
final class PluginJar {
    private static final Path EXAMPLE =
            Path.of("..", "server", "examples", "plugin").toAbsolutePath();

    private PluginJar() {}

    /** Makes the jar; {@code folder} has it and is otherwise used. */
    static Path make(Path folder) throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        List<String> arguments = new ArrayList<>(
                List.of("-Xlint:all,-classfile,-processing", "-Werror", "-proc:none", "-d", classes.toString()));
        try (Stream<Path> sources = Files.list(EXAMPLE.resolve("example"))) {
            sources.map(Path::toString).sorted().forEach(arguments::add);
        }
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int outcome = ToolProvider.getSystemJavaCompiler().run(null, errors, errors, arguments.toArray(String[]::new));
        assertEquals(0, outcome, errors.toString(StandardCharsets.UTF_8));
        Path jar = folder.resolve("example-plugin.jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream packed = new JarOutputStream(out)) {
            add(packed, classes, classes);
            add(packed, EXAMPLE, EXAMPLE.resolve("META-INF"));
        }
        return jar;
    }

    private static void add(JarOutputStream into, Path root, Path from) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                into.putNextEntry(new JarEntry(root.relativize(file).toString().replace('\\', '/')));
                Files.copy(file, into);
                into.closeEntry();
            }
        }
    }
}
