package dev.millrace.server.realdata;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** Where the real data is. */
public final class DataFolder {
    private DataFolder() {}

    /** The path of a file or glob of the data; skips the test, with a reason, where there is no data. */
    static String path(String relative) {
        Path folder = Optional.ofNullable(System.getenv("MILLRACE_DATA"))
                .map(Path::of)
                .orElseGet(DataFolder::usual);
        Path directory = folder.resolve(relative).getParent();
        if (!Files.isDirectory(directory)) {
            String reason = "skipped because there is no real data at " + directory + "; set MILLRACE_DATA";
            System.out.println(reason);
            Assumptions.abort(reason);
        }
        return folder.resolve(relative).toString();
    }

    /** A file of the data; empty where there is no data. */
    public static Optional<Path> find(String relative) {
        Path folder = Optional.ofNullable(System.getenv("MILLRACE_DATA"))
                .map(Path::of)
                .orElseGet(DataFolder::usual);
        return Optional.of(folder.resolve(relative)).filter(Files::isRegularFile);
    }

    private static Path usual() {
        Path root = Path.of("").toAbsolutePath();
        while (root.getParent() != null && !Files.exists(root.resolve("GLOSSARY.md"))) {
            root = root.getParent();
        }
        return root.resolveSibling("shared").resolve("data");
    }
}
