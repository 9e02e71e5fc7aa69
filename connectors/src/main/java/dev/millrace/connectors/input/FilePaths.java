package dev.millrace.connectors.input;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The files that a path option names: one file, a pattern with {@code * ? [..] {..}} in any of its parts
 * ({@code **} crosses directories), or several of those separated by commas. Immutable; the disk is looked at anew each
 * time.
 */
public final class FilePaths {
    private static final String PATTERN_CHARACTERS = "*?[{";

    private final String text;
    private final List<Part> parts;

    private record Part(String path, boolean isPattern) {}

    public FilePaths(String text) {
        this(
                text,
                Arrays.stream(splitOutsideBraces(text))
                        .map(String::trim)
                        .filter(part -> !part.isEmpty())
                        .map(part -> new Part(part, hasPatternIn(part)))
                        .toList());
        if (parts.isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "option \"path\" names no file");
        }
    }

    private FilePaths(String text, List<Part> parts) {
        this.text = text;
        this.parts = parts;
    }

    /** Each path a file if there is one of that very name, else perhaps a pattern; commas are parts of names. */
    public static FilePaths named(List<String> paths) {
        return new FilePaths(
                String.join(", ", paths),
                paths.stream()
                        .map(path -> new Part(path, hasPatternIn(path) && !Files.exists(path(path))))
                        .toList());
    }

    private static Path path(String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException e) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FILE, "there is no file \"" + name + "\": " + e.getReason());
        }
    }

    private static String[] splitOutsideBraces(String text) {
        return text.split(",(?![^{]*})");
    }

    /** Whether new files may come to match. */
    public boolean hasPattern() {
        return parts.stream().anyMatch(Part::isPattern);
    }

    /**
     * The files there are now, those of a pattern by name, none twice.
     *
     * @throws MillraceException when a file that is named without a pattern is missing, is a directory or cannot be read;
     *     or when nothing at all was found
     */
    public List<Path> list() {
        List<Path> files = listPresent();
        if (files.isEmpty()) {
            throw MillraceException.external(
                    SqlState.UNDEFINED_FILE, "no file matches \"" + text + "\"", new NoSuchFileException(text));
        }
        return files;
    }

    /** As {@link #list()}, but a pattern that matches nothing yet is no error. */
    public List<Path> listPresent() {
        Set<Path> files = new LinkedHashSet<>();
        for (Part part : parts) {
            if (part.isPattern()) {
                files.addAll(matching(part.path()));
            } else {
                files.add(existing(path(part.path())));
            }
        }
        return List.copyOf(files);
    }

    private static Path existing(Path file) {
        if (Files.isDirectory(file)) {
            throw FileErrors.isDirectory(file);
        }
        if (!Files.exists(file)) {
            throw FileErrors.opening(file, "for reading", new NoSuchFileException(file.toString()));
        }
        if (!Files.isReadable(file)) {
            throw FileErrors.opening(file, "for reading", new java.nio.file.AccessDeniedException(file.toString()));
        }
        return file;
    }

    private static List<Path> matching(String pattern) {
        String[] names = pattern.split("/");
        StringBuilder fixed = new StringBuilder();
        int firstPattern = 0;
        while (!hasPatternIn(names[firstPattern])) {
            fixed.append(names[firstPattern++]).append('/');
        }
        Path root = Path.of(fixed.toString());
        int depth = pattern.contains("**") ? Integer.MAX_VALUE : names.length - firstPattern;
        String relative = String.join("/", Arrays.asList(names).subList(firstPattern, names.length));
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + relative);
        Path start = fixed.length() == 0 ? Path.of(".") : root;
        if (!Files.isDirectory(start)) {
            return List.of();
        }
        List<Path> files = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(start, depth)) {
            walk.filter(Files::isRegularFile)
                    .filter(file -> matcher.matches(start.relativize(file)))
                    .map(file -> fixed.length() == 0 ? start.relativize(file) : file)
                    .sorted()
                    .forEach(files::add);
        } catch (IOException | java.io.UncheckedIOException e) {
            throw MillraceException.external(
                    SqlState.IO_ERROR, "could not list \"" + start + "\": " + e.getMessage(), e);
        }
        return files;
    }

    private static boolean hasPatternIn(String part) {
        return part.chars().anyMatch(c -> PATTERN_CHARACTERS.indexOf(c) >= 0);
    }

    @Override
    public String toString() {
        return text;
    }
}
