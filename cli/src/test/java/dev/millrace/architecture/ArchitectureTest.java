package dev.millrace.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The arrows of ARCHITECTURE.md. Maven holds those between modules; here are those between packages and libraries. */
@Tag("long")
class ArchitectureTest {
    private static final int MOST_TYPES = 30; // of a package: what one can hold in mind
    private static final int MOST_PERCENT = 25; // of all lines, of a module
    private static final Pattern SOURCE = Pattern.compile(
            "(?!benchmarks/|jdbc-driver/|capture/).*/(?:src/main/java|generated-sources/javacc)/(dev/millrace/.*)\\.java");

    /** The names of top-level classes by their package, from the sources; but for those of modules that stand on this one. */
    private static final Map<String, Set<String>> SOURCES = sources();

    /** Without class files that an earlier build left behind: their sources have moved or gone. */
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace")
            .that(DescribedPredicate.describe("have a source", ArchitectureTest::hasSource));

    private static Map<String, Set<String>> sources() {
        try (Stream<Path> walk = Files.walk(RepositoryTest.ROOT)) {
            return walk.map(path ->
                            SOURCE.matcher(RepositoryTest.ROOT.relativize(path).toString()))
                    .filter(Matcher::matches)
                    .map(source -> source.group(1).replace('/', '.'))
                    .filter(name -> !name.endsWith(".package-info"))
                    .collect(groupingBy(name -> name.substring(0, name.lastIndexOf('.')), TreeMap::new, toSet()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean hasSource(JavaClass type) {
        return SOURCES.getOrDefault(type.getPackageName(), Set.of())
                .contains(type.getName().replaceAll("\\$.*", ""));
    }

    @Test
    void everyPackageIsSeen() {
        Set<String> seen = CLASSES.stream().map(JavaClass::getPackageName).collect(toCollection(TreeSet::new));
        assertEquals(SOURCES.keySet(), seen);
        assertTrue(seen.containsAll(List.of(
                "dev.millrace.sketch.file",
                "dev.millrace.cli.shell",
                "dev.millrace.server.copy",
                "dev.millrace.server.pgcatalog",
                "dev.millrace.server.pgwire")));
    }

    @Test
    void noPackageIsSplitBetweenModules() throws IOException {
        Pattern source = Pattern.compile("([^/]+)/src/main/java/(dev/millrace/.*)/[^/]+\\.java");
        try (Stream<Path> walk = Files.walk(RepositoryTest.ROOT)) {
            Map<String, Set<String>> modules = walk.map(path ->
                            source.matcher(RepositoryTest.ROOT.relativize(path).toString()))
                    .filter(Matcher::matches)
                    .collect(groupingBy(file -> file.group(2), TreeMap::new, mapping(file -> file.group(1), toSet())));
            modules.values().removeIf(of -> of.size() == 1);
            assertEquals(Map.of(), modules);
        }
    }

    /** What a library keeps to its own package is asked for there, or done without. */
    @Test
    void noClassOfOursIsInSomebodyElsesPackage() throws IOException {
        Pattern foreign = Pattern.compile("[^/]+/src/(main|test)/java/(?!dev/millrace/).*\\.java");
        try (Stream<Path> walk = Files.walk(RepositoryTest.ROOT)) {
            assertEquals(
                    List.of(),
                    walk.map(path -> RepositoryTest.ROOT.relativize(path).toString())
                            .filter(file -> foreign.matcher(file).matches())
                            .toList());
        }
    }

    /** By lines; the largest is the engine. */
    @Test
    void noModuleIsMoreThanAQuarterOfTheHouse() throws IOException {
        Pattern source = Pattern.compile("([^/]+)/src/main/java/.*\\.java");
        Map<String, Long> lines = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(RepositoryTest.ROOT)) {
            for (Path path : walk.toList()) {
                Matcher file =
                        source.matcher(RepositoryTest.ROOT.relativize(path).toString());
                if (file.matches()) {
                    lines.merge(file.group(1), (long) Files.readAllLines(path).size(), Long::sum);
                }
            }
        }
        long all = lines.values().stream().mapToLong(Long::longValue).sum();
        Map<String, Long> tooLarge = new TreeMap<>(lines);
        tooLarge.values().removeIf(ofModule -> ofModule <= MOST_PERCENT * all / 100);
        assertEquals(Map.of(), tooLarge, "lines of modules that are more than " + MOST_PERCENT + " % of " + all);
    }

    @Test
    void noPackagesImportEachOtherInCircles() {
        slices().matching("dev.millrace.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void valuesKnowBytesAndNotBatches() {
        String[] values = {
            "dev.millrace.error..",
            "dev.millrace.json..",
            "dev.millrace.memory..",
            "dev.millrace.nested..",
            "dev.millrace.number..",
            "dev.millrace.text..",
            "dev.millrace.type.."
        };
        noClasses()
                .that()
                .resideInAnyPackage(values)
                .should()
                .dependOnClassesThat(resideInAPackage("dev.millrace..")
                        .and(not(resideInAnyPackage(values)))
                        .or(resideInAPackage("org.apache.arrow.vector..")))
                .check(CLASSES);
    }

    /** What executes statements is made by sessions, and knows none. */
    @Test
    void statementsAreExecutedWithoutSessions() {
        noClasses()
                .that()
                .resideInAnyPackage(Stream.of(
                                "cancellation",
                                "ddl",
                                "dml",
                                "instance",
                                "lookup",
                                "names",
                                "permission",
                                "planning",
                                "query",
                                "result",
                                "system",
                                "transaction")
                        .map(name -> "dev.millrace.server." + name + "..")
                        .toArray(String[]::new))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.server.session..", "dev.millrace.server.pgwire", "dev.millrace.server.http..")
                .check(CLASSES);
    }

    /** The binder's packages from below: each knows only those before it. */
    @Test
    void bindersKnowOnlyWhatIsBelowThem() {
        List<String> packages = Stream.of(
                        "type",
                        "function",
                        "relation",
                        "subquery",
                        "scope",
                        "expression",
                        "gap",
                        "match",
                        "query",
                        "change")
                .map(name -> "dev.millrace.sql.bind." + name)
                .toList();
        for (int i = 0; i < packages.size(); i++) {
            List<String> above = new ArrayList<>(packages.subList(i + 1, packages.size()));
            above.add("dev.millrace.sql.bind");
            noClasses()
                    .that()
                    .resideInAPackage(packages.get(i))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(above.toArray(String[]::new))
                    .check(CLASSES);
        }
    }

    @Test
    void packagesAreWhatOneCanHold() {
        Map<String, Integer> tooLarge = new TreeMap<>();
        SOURCES.forEach((name, types) -> {
            if (types.size() > MOST_TYPES) {
                tooLarge.put(name, types.size());
            }
        });
        assertEquals(Map.of(), tooLarge);
    }

    @Test
    void theEngineNeverSeesSqlOrCalcite() {
        noClasses()
                .that()
                .resideInAnyPackage("dev.millrace.engine..", "dev.millrace.scheduler..", "dev.millrace.connectors..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.calcite..", "dev.millrace.sql..", "dev.millrace.planner..")
                .check(CLASSES);
    }

    @Test
    void expressionsRunWithoutTheEngine() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.expressions..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.engine..",
                        "dev.millrace.scheduler..",
                        "dev.millrace.connectors..",
                        "dev.millrace.sql..",
                        "org.apache.calcite..")
                .check(CLASSES);
    }

    @Test
    void theSchedulerNeverSeesPlansOrArrow() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.scheduler..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.plan..",
                        "dev.millrace.expressions..",
                        "dev.millrace.engine..",
                        "org.apache.arrow..")
                .check(CLASSES);
    }

    @Test
    void connectorsKnowBatchesAndNotQueries() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.connectors..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.millrace.plan..", "dev.millrace.expressions..", "dev.millrace.engine..")
                .check(CLASSES);
    }

    @Test
    void storageKnowsBatchesAndBytes() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.storage..")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.millrace..")
                        .and(not(resideInAnyPackage(
                                "dev.millrace.storage..",
                                "dev.millrace.batch..",
                                "dev.millrace.error..",
                                "dev.millrace.interrupt..",
                                "dev.millrace.memory..",
                                "dev.millrace.time..",
                                "dev.millrace.type.."))))
                .check(CLASSES);
    }

    /** What reaches files is the disk: all else of storage can be given a simulated one. */
    @Test
    void storageReachesFilesThroughItsDisk() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.storage..")
                .and()
                .resideOutsideOfPackage("dev.millrace.storage.disk")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.nio.channels..")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.nio.file.Files")
                .check(CLASSES);
    }

    @Test
    void nobodyImportsThePrograms() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.millrace.cli..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.millrace.cli..")
                .check(CLASSES);
    }

    @Test
    void onlyProgramsReadCommandLinesAndDrawInTerminals() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.millrace.cli..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("picocli..", "org.jline..")
                .check(CLASSES);
    }

    @Test
    void onlyMemoryNamesUnsafe() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("dev.millrace.memory.Memory")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("sun.misc.Unsafe")
                .check(CLASSES);
    }
}
