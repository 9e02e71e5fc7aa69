package dev.millrace.benchmarks.wire;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** An installed PostgreSQL: the directory of its programs. */
record PostgresqlProgram(Path directory) {
    private static final List<String> PROGRAMS = List.of("initdb", "postgres");

    /** The one in a directory, or else the first that PATH has; empty where there is none. */
    static Optional<PostgresqlProgram> find(Optional<Path> wanted) {
        List<Path> places = wanted.map(List::of)
                .orElseGet(
                        () -> List.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)).stream()
                                .map(Path::of)
                                .toList());
        return places.stream()
                .filter(place -> PROGRAMS.stream().allMatch(name -> Files.isExecutable(place.resolve(name))))
                .findFirst()
                .map(PostgresqlProgram::new);
    }

    String path(String name) {
        return directory.resolve(name).toString();
    }
}
