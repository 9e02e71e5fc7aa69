package dev.millrace.benchmarks.suite;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;

/**
 * The jar that CREATE FUNCTION is given: the one that this class is in. Where classes are not in a jar, as in tests, those that
 * a suite names are packed into one, as a user would do it, once per suite and process; it goes with the process.
 */
final class FunctionJar {
    private static final Map<String, Path> JARS = new ConcurrentHashMap<>();

    private FunctionJar() {}

    static Path of(Suite suite) {
        return installed()
                .orElseGet(() -> JARS.computeIfAbsent(suite.name(), name -> write(name, suite.functionClasses())));
    }

    private static Optional<Path> installed() {
        try {
            Path source = Path.of(FunctionJar.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            return Files.isRegularFile(source) ? Optional.of(source) : Optional.empty();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
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
