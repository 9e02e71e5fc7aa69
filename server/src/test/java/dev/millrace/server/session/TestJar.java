package dev.millrace.server.session;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;

/** Jars of Java code that a test has as text. */
public final class TestJar {
    private static final Map<String, byte[]> COMPILED = new ConcurrentHashMap<>();

    private TestJar() {}

    /** A public class {@code org.example.Code} as a jar of always the same bytes, in a folder; each code is compiled once. */
    public static Path of(String code, Path folder) throws IOException {
        byte[] jar = COMPILED.get(code);
        if (jar == null) {
            jar = compiled(code, folder);
            COMPILED.put(code, jar);
        }
        return Files.write(folder.resolve("code.jar"), jar);
    }

    private static byte[] compiled(String code, Path folder) throws IOException {
        Path source = Files.createDirectories(folder.resolve("src/org/example")).resolve("Code.java");
        Files.writeString(source, code);
        Path classes = Files.createDirectories(folder.resolve("classes"));
        String path = System.getProperty("java.class.path");
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-d", classes.toString(), source.toString(), "-cp", path);
        if (failed != 0) {
            throw new AssertionError("the code does not compile");
        }
        ByteArrayOutputStream jar = new ByteArrayOutputStream();
        try (JarOutputStream zip = new JarOutputStream(jar);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                ZipEntry entry =
                        new ZipEntry(classes.relativize(file).toString().replace('\\', '/'));
                entry.setTime(0);
                zip.putNextEntry(entry);
                Files.copy(file, zip);
                zip.closeEntry();
            }
        }
        return jar.toByteArray();
    }
}
