package dev.millrace.connectors.s3;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The objects that a path option names: one, a pattern with {@code * ? [..] {..}} ({@code **} crosses "/"), or several between commas. Immutable; the store is
 * asked anew each time.
 */
public final class ObjectPaths {
    /** Of one source: a position names those that wait, or knows those that were read. */
    static final int MOST = 100_000;

    private static final String PATTERN_CHARACTERS = "*?[{";

    private record One(ObjectName prefix, boolean isPattern, PathMatcher matcher) {
        boolean matches(ObjectName name) {
            if (!isPattern) {
                return name.equals(prefix);
            }
            try {
                return !name.key().endsWith("/") && matcher.matches(Path.of(name.key()));
            } catch (InvalidPathException e) {
                return false;
            }
        }
    }

    private final String text;
    private final List<One> parts;

    /** @throws MillraceException 22023 if one is no path of objects */
    public ObjectPaths(String text) {
        this.text = text;
        this.parts = Arrays.stream(text.split(",(?![^{]*})"))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .map(ObjectPaths::one)
                .toList();
    }

    private static One one(String path) {
        ObjectName name = ObjectName.of(path);
        int fixed = 0;
        while (fixed < name.key().length()
                && PATTERN_CHARACTERS.indexOf(name.key().charAt(fixed)) < 0) {
            fixed++;
        }
        boolean isPattern = fixed < name.key().length();
        if (!isPattern && (name.key().isEmpty() || name.key().endsWith("/"))) {
            throw MillraceException.user(SqlState.WRONG_OBJECT_TYPE, "\"" + path + "\" names no object")
                    .withHint("name the objects in it, such as '" + path + "*.csv'");
        }
        return new One(
                new ObjectName(name.bucket(), name.key().substring(0, fixed)),
                isPattern,
                FileSystems.getDefault().getPathMatcher("glob:" + (isPattern ? name.key() : "*")));
    }

    /** Whether new objects may come to match. */
    public boolean hasPattern() {
        return parts.stream().anyMatch(One::isPattern);
    }

    /**
     * The objects there are now, those of a pattern by key, none twice; maybe none.
     *
     * @throws MillraceException 58P01 if one that is named without a pattern is missing, 54000 of very many
     */
    List<StoredObject> listPresent(ObjectStore store) {
        Map<ObjectName, StoredObject> all = new LinkedHashMap<>();
        for (One part : parts) {
            boolean[] found = {false};
            store.list(part.prefix, object -> {
                if (part.matches(object.name())) {
                    found[0] = true;
                    all.putIfAbsent(object.name(), object);
                    requireNotTooMany(all.size());
                }
            });
            if (!part.isPattern && !found[0]) {
                throw MillraceException.external(
                        SqlState.UNDEFINED_FILE, "object \"" + part.prefix + "\" does not exist");
            }
        }
        return new ArrayList<>(all.values());
    }

    /** As {@link #listPresent}, but that nothing is there is an error. */
    public List<StoredObject> list(ObjectStore store) {
        List<StoredObject> all = listPresent(store);
        if (all.isEmpty()) {
            throw MillraceException.external(SqlState.UNDEFINED_FILE, "no object matches \"" + text + "\"");
        }
        return all;
    }

    /** Looks whether the buckets can be listed. */
    void check(ObjectStore store) {
        for (One part : parts) {
            store.check(part.prefix);
        }
    }

    private void requireNotTooMany(int count) {
        if (count > MOST) {
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED, "more than " + MOST + " objects match \"" + text + "\"")
                    .withHint("name fewer by one path, or move away those that were read");
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
