package dev.millrace.benchmarks.suite;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;

/**
 * The jar that CREATE FUNCTION is given: the classes that a suite names, as a user would pack them. It is written once per
 * suite and process, to a temporary file that goes with the process.
 */
final class FunctionJar {
    private static final Map<String, Path> JARS = new ConcurrentHashMap<>();

    private FunctionJar() {}

    static Path of(Suite suite) {
        return JARS.computeIfAbsent(suite.name(), name -> write(name, suite.functionClasses()));
    }

    private static Path write(String suite, List<String> classes) {
        try {
            Path jar = Files.createTempFile("millrace-" + suite, ".jar");
            jar.toFile().deleteOnExit();
            try (OutputStream out = Files.newOutputStream(jar);
                    JarOutputStream entries = new JarOutputStream(out)) {
                for (String each : classes) {
                    String entry = each.replace('.', '/') + ".class";
                    try (InputStream in = FunctionJar.class.getResourceAsStream("/" + entry)) {
                        if (in == null) {
                            throw new IllegalStateException(
                                    "suite " + suite + " names a class that is not there: " + each);
                        }
                        ZipEntry header = new ZipEntry(entry);
                        header.setTime(0); // the same classes make the same jar
                        entries.putNextEntry(header);
                        in.transferTo(entries);
                        entries.closeEntry();
                    }
                }
            }
            return jar;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
