package dev.millrace.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.settings.ProductVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lint of the repository itself (house style 3, 31, 40). */
@Tag("long")
class RepositoryTest {
    static final Path ROOT = root();
    private static final int LONGEST_FILE = 500;
    private static final Pattern LEFT_OPEN = Pattern.compile("\\b(TODO|FIXME|XXX)\\b");

    private static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.exists(directory.resolve("GLOSSARY.md"))) {
            directory = directory.getParent();
        }
        return directory;
    }

    private static List<Path> files(String folder, String suffix) {
        try (Stream<Path> walk = Files.walk(ROOT)) {
            return walk.filter(path -> path.toString().endsWith(suffix))
                    .filter(path -> path.toString().contains(folder))
                    .filter(path -> !ROOT.relativize(path).toString().matches("(.*/)?target/.*"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void everyPackageSaysWhatItIs() {
        List<String> silent = files("src/main/java", ".java").stream()
                .map(Path::getParent)
                .distinct()
                .filter(directory -> !Files.exists(directory.resolve("package-info.java")))
                .map(directory -> ROOT.relativize(directory).toString())
                .toList();
        assertEquals(List.of(), silent, "packages without package-info.java");
    }

    @Test
    void longFilesSayWhyTheyAreLong() {
        List<String> tooLong = new ArrayList<>();
        for (Path path : files("src/main/java", ".java")) {
            String text = text(path);
            if (text.lines().count() > LONGEST_FILE && !text.contains("Long because")) {
                tooLong.add(ROOT.relativize(path) + ": " + text.lines().count() + " lines");
            }
        }
        assertEquals(List.of(), tooLong, "split the file, or say in its javadoc \"Long because ...\"");
    }

    @Test
    void everyTypeHasANameThatNoOtherHas() {
        Map<String, List<String>> byName = files("src/main/java", ".java").stream()
                .filter(path -> !path.endsWith("package-info.java"))
                .filter(path -> !path.endsWith("Main.java")) // of the programs
                .map(path -> ROOT.relativize(path).toString())
                .collect(Collectors.groupingBy(path -> path.replaceAll(".*/", ""), TreeMap::new, Collectors.toList()));
        byName.values().removeIf(paths -> paths.size() == 1);
        assertEquals(Map.of(), byName);
    }

    @Test
    void locksAreNamedWhereACompilerReadsThem() {
        Pattern comment = Pattern.compile("// .*[gG]uarded by (this|itself|lock|[A-Z_]+)\\b");
        List<String> said = files("src/main/java", ".java").stream()
                .filter(path -> comment.matcher(text(path)).find())
                .map(path -> ROOT.relativize(path).toString())
                .toList();
        assertEquals(List.of(), said, "write @GuardedBy instead of a comment");
    }

    @Test
    void nothingIsLeftOpenInTheSources() {
        List<String> open = files("src/main/java", ".java").stream()
                .filter(path -> LEFT_OPEN.matcher(text(path)).find())
                .map(path -> ROOT.relativize(path).toString())
                .toList();
        assertEquals(List.of(), open);
    }

    @Test
    void theVersionIsMavens() {
        String inMaven = text(ROOT.resolve("pom.xml")).replaceAll("(?s).*?<version>(.*?)</version>.*", "$1");
        assertEquals(inMaven, ProductVersion.TEXT);
    }

    @Test
    void testHelpersAreOnNobodysClassPathButThatOfTestsAndBenchmarks() {
        Pattern forOthers = Pattern.compile("<artifactId>testing</artifactId>(?!\\s*<scope>test</scope>)");
        List<String> modules = files("", "/pom.xml").stream()
                .filter(pom -> !pom.getParent().equals(ROOT))
                .filter(pom -> forOthers.matcher(text(pom)).find())
                .map(pom -> ROOT.relativize(pom.getParent()).toString())
                .toList();
        assertEquals(List.of("benchmarks", "testing"), modules);
    }

    @Test
    void picturesOfTerminalsKeepTheirColumnsInAnyFont() {
        List<String> loose = files("/docs/", ".svg").stream()
                .filter(picture -> text(picture).contains("monospace"))
                .filter(picture -> text(picture)
                        .lines()
                        .anyMatch(line -> line.startsWith("<text") && !line.contains("textLength")))
                .map(picture -> ROOT.relativize(picture).toString())
                .toList();
        assertEquals(List.of(), loose, "each piece of text says how wide it is");
    }

    @Test
    void documentsLinkOnlyToWhatIsThere() {
        Pattern link = Pattern.compile("\\]\\((?!https?:)([^)#]+)");
        List<String> broken = new ArrayList<>();
        for (Path path : files("", ".md")) {
            link.matcher(text(path)).results().map(match -> match.group(1)).forEach(target -> {
                if (!Files.exists(path.getParent().resolve(target))) {
                    broken.add(ROOT.relativize(path) + " -> " + target);
                }
            });
        }
        assertEquals(List.of(), broken);
    }

    /** One that has another name by now would be left out, and nobody told. */
    @Test
    void testsForAnotherJdkAreThere() {
        String listed = text(ROOT.resolve("check")).replaceAll("(?s).*\\non_another_jdk=\\((.*?)\\n\\).*", "$1");
        List<String> names = listed.lines()
                .flatMap(line -> Stream.of(line.replaceAll("#.*", "").strip().split("\\s+")))
                .filter(name -> !name.isEmpty())
                .toList();
        List<String> tests = files("src/test/java", "Test.java").stream()
                .map(path -> path.getFileName().toString().replace(".java", ""))
                .toList();
        assertEquals(
                List.of(), names.stream().filter(name -> !tests.contains(name)).toList());
        assertTrue(names.size() > 50, names::toString);
    }
}
