package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads every byte of the files that this package describes, of a directory that a database may have open, and changes nothing. For one
 * thread.
 */
public final class CatalogVerification {
    private static final Pattern NAMED = Pattern.compile("\"(define|drop|pause|resume)\":\"((?:[^\"\\\\]|\\\\.)*+)\"");
    private static final Pattern JAR = Pattern.compile("([0-9a-f]{64})\\.jar");
    private static final int MOST_NAMED = 20;

    private final Path directory;
    private final List<FileReport> files = new ArrayList<>();
    private Optional<KeptCatalog> catalog = Optional.empty();

    private CatalogVerification(Path directory) {
        this.directory = directory;
    }

    /**
     * What was found.
     *
     * @param files by their names in the directory
     * @param catalog what is defined, if that could be read
     * @param user the number of the process that has the directory open, if one has
     */
    public record Findings(List<FileReport> files, Optional<KeptCatalog> catalog, Optional<String> user) {
        public Findings {
            files = List.copyOf(files);
        }
    }

    /** @throws IOException where something cannot be read */
    public static Findings run(Path directory) throws IOException {
        CatalogVerification verification = new CatalogVerification(directory);
        Optional<String> user = LockedDirectory.user(directory);
        verification.readCatalog();
        verification.readJars();
        verification.readLock(user);
        return new Findings(verification.files, verification.catalog, user);
    }

    private long bytes(String name) throws IOException {
        Path file = directory.resolve(name);
        return Files.exists(file) ? Files.size(file) : 0;
    }

    /** The end first: the log may grow, and then has it. */
    private void readCatalog() throws IOException {
        boolean endIsThere = Files.exists(directory.resolve(CatalogEnd.NAME));
        OptionalLong answered = CatalogEnd.read(RealDisk.readOnly(directory));
        Path log = directory.resolve(CatalogLog.NAME);
        if (!Files.exists(log)) {
            files.add(
                    FileReport.damaged(CatalogLog.NAME, 0, "all definitions, roles and settings", log + " is missing"));
        } else if (!readLog(log, answered) && !endIsThere) {
            return; // that version had none
        }
        String behind = "whether " + CatalogLog.NAME + " has all its records is not known";
        if (answered.isPresent()) {
            files.add(FileReport.whole(
                    CatalogEnd.NAME,
                    bytes(CatalogEnd.NAME),
                    CatalogLog.NAME + " goes to record " + answered.getAsLong() + " at least"));
        } else {
            String what = endIsThere ? " is damaged at byte 0: it is no number of a record" : " is missing";
            files.add(FileReport.damaged(
                    CatalogEnd.NAME, bytes(CatalogEnd.NAME), behind, directory.resolve(CatalogEnd.NAME) + what));
        }
    }

    /** Whether an end belongs to it. */
    private boolean readLog(Path log, OptionalLong answered) throws IOException {
        byte[] content = Files.readAllBytes(log);
        try {
            CatalogReader.Contents contents = CatalogReader.read(log.toString(), content, answered);
            KeptCatalog read = new KeptCatalog();
            contents.records().forEach(read::apply);
            catalog = Optional.of(read);
            List<String> notices = new ArrayList<>();
            if (contents.tornBytes() > 0) {
                notices.add("the last " + contents.tornBytes() + " bytes are of record " + (contents.last() + 1)
                        + ", which was being written and was not answered");
            }
            files.add(new FileReport(
                    CatalogLog.NAME,
                    content.length,
                    contents.records().size() + " records up to " + contents.last() + ": " + summary(read),
                    true,
                    List.of(),
                    notices));
            return contents.isNumbered();
        } catch (MillraceException e) {
            files.add(new FileReport(
                    CatalogLog.NAME,
                    content.length,
                    "definitions, roles and settings",
                    true,
                    List.of(e.getMessage()),
                    lost(content)));
            return true;
        }
    }

    private static String summary(KeptCatalog catalog) {
        Map<String, Integer> kinds = new TreeMap<>();
        catalog.objects().forEach(object -> kinds.merge(object.kind(), 1, Integer::sum));
        return kinds.isEmpty()
                ? "no objects"
                : kinds.entrySet().stream()
                        .map(kind -> kind.getKey() + " " + kind.getValue())
                        .collect(Collectors.joining(", "));
    }

    /** What the lines from the first damaged one on are about, as far as that can be read. */
    private static List<String> lost(byte[] content) {
        TreeSet<String> named = new TreeSet<>();
        long next = -1;
        boolean isDamaged = false;
        for (String line : new String(content, StandardCharsets.UTF_8).split("\n")) {
            Optional<NumberedLine> whole = NumberedLine.read(line);
            boolean isTitle = line.startsWith(CatalogReader.TITLE);
            isDamaged |=
                    !isTitle && (whole.isEmpty() || next >= 0 && whole.get().number() != next);
            next = whole.map(it -> it.number() + 1).orElse(next < 0 ? next : next + 1);
            Matcher names = NAMED.matcher(line);
            while (isDamaged && names.find() && named.size() < MOST_NAMED) {
                named.add(names.group(1) + " " + names.group(2));
            }
        }
        return named.isEmpty() ? List.of() : List.of("lost, from the damage on: " + String.join(", ", named));
    }

    private void readJars() throws IOException {
        Map<String, List<String>> needed = new TreeMap<>();
        catalog.ifPresent(read -> read.objects()
                .forEach(object -> object.jar()
                        .ifPresent(hash -> needed.computeIfAbsent(hash, jar -> new ArrayList<>())
                                .add(object.name()))));
        Path jars = directory.resolve(DataDirectory.JARS);
        if (Files.isDirectory(jars)) {
            try (Stream<Path> list = Files.list(jars)) {
                for (Path file : list.sorted().toList()) {
                    readJar(file, needed);
                }
            }
        }
        needed.forEach((hash, functions) -> files.add(FileReport.damaged(
                DataDirectory.JARS + "/" + hash + ".jar",
                0,
                "code of " + String.join(", ", functions),
                jars.resolve(hash + ".jar") + " is missing")));
    }

    private void readJar(Path file, Map<String, List<String>> needed) throws IOException {
        String name = String.valueOf(file.getFileName());
        String shown = DataDirectory.JARS + "/" + name;
        Matcher hash = JAR.matcher(name);
        if (hash.matches()) {
            List<String> functions =
                    Optional.ofNullable(needed.remove(hash.group(1))).orElse(List.of());
            String contents = functions.isEmpty()
                    ? "code that no function has any more"
                    : "code of " + String.join(", ", functions);
            byte[] bytes = Files.readAllBytes(file);
            files.add(
                    sha256(bytes).equals(hash.group(1))
                            ? FileReport.whole(shown, bytes.length, contents)
                            : FileReport.damaged(
                                    shown,
                                    bytes.length,
                                    contents,
                                    file + " is damaged at byte 0: its SHA-256 is not its name"));
        } else if (name.endsWith(".new")) {
            files.add(FileReport.whole(shown, Files.size(file), "not finished: does not count"));
        } else {
            files.add(FileReport.unknown(shown, Files.isDirectory(file) ? 0 : Files.size(file)));
        }
    }

    static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw MillraceException.internal("this JVM has no SHA-256", e);
        }
    }

    /** Its bytes are for people to read: that it is there is all that is asked of it. */
    private void readLock(Optional<String> user) throws IOException {
        if (Files.exists(directory.resolve(LockedDirectory.LOCK))) {
            files.add(FileReport.whole(
                    LockedDirectory.LOCK,
                    bytes(LockedDirectory.LOCK),
                    user.map(process -> process.isEmpty() ? "held" : "held by process " + process)
                            .orElse("free")));
        }
    }
}
