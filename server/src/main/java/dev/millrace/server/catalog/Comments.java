package dev.millrace.server.catalog;

import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Commented;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BiConsumer;

/** Comments on what is in the catalog. Changed under the database's lock of definitions, read by any thread. */
public final class Comments {
    private final ConcurrentSkipListMap<Commented, String> texts = new ConcurrentSkipListMap<>();
    private final BiConsumer<Commented, Optional<String>> listener;

    /** @param listener is told of each that is another */
    Comments(BiConsumer<Commented, Optional<String>> listener) {
        this.listener = listener;
    }

    public Optional<String> on(Commented thing) {
        return Optional.ofNullable(texts.get(thing));
    }

    /** All, those about one thing beside each other. */
    public SortedMap<Commented, String> all() {
        return new TreeMap<>(texts);
    }

    /** Those on a thing and its parts. */
    public NavigableMap<Commented, String> about(String name) {
        return new TreeMap<>(Commented.about(texts, name));
    }

    /** This is said of a thing from now on; without a text nothing is. */
    public void put(Commented on, Optional<String> text) {
        String before = text.isPresent() ? texts.put(on, text.get()) : texts.remove(on);
        if (!text.equals(Optional.ofNullable(before))) {
            listener.accept(on, text);
        }
    }

    /** Each of these is said. */
    public void putAll(Map<Commented, String> all) {
        all.forEach((on, text) -> put(on, Optional.of(text)));
    }

    /** Nothing but this is said of a thing and its parts. */
    public void putAbout(String name, Map<Commented, String> all) {
        List.copyOf(Commented.about(texts, name).keySet()).stream()
                .filter(on -> !all.containsKey(on))
                .forEach(on -> put(on, Optional.empty()));
        putAll(all);
    }

    /** The thing is gone. */
    void forget(String name) {
        Commented.about(texts, name).clear();
    }

    /** An object is another of its name: it has the comments on what is left of its parts. */
    void retain(CatalogObject object) {
        List.copyOf(Commented.about(texts, object.name()).keySet()).stream()
                .filter(on -> !has(object, on))
                .forEach(on -> put(on, Optional.empty()));
    }

    /** Whether an object has what a comment on its name is about. */
    public static boolean has(CatalogObject object, Commented on) {
        TableRules rules = object.rules();
        return switch (on.kind()) {
            case THING -> true;
            case COLUMN -> object.schema().indexOf(on.part()) >= 0;
            case CONSTRAINT ->
                on.part().isEmpty()
                        ? !object.primaryKey().isEmpty()
                        : rules.checks().stream().anyMatch(check -> check.name().equals(on.part()))
                                || rules.foreignKeys().stream()
                                        .anyMatch(key -> key.name().equals(on.part()))
                                || rules.uniques().stream()
                                        .anyMatch(unique -> unique.name().equals(on.part()));
        };
    }

    /** What a comment on a constraint of a table is on, by the name that it has there, if there is such. */
    public static Commented constraint(DatabaseCatalog catalog, String table, String constraint) {
        boolean isKey = constraint.equals(catalog.withoutSchema(table) + "_pkey");
        return new Commented(Commented.Kind.CONSTRAINT, table, isKey ? "" : constraint);
    }

    /** Things have other names, all at once. @param now what they are, by the names that they had; with others, which keep theirs */
    void rename(Map<String, CatalogObject> now) {
        Map<Commented, String> moved = new HashMap<>();
        now.forEach((name, object) -> {
            if (!name.equals(object.name())) {
                NavigableMap<Commented, String> about = Commented.about(texts, name);
                about.forEach((on, text) -> moved.put(on.of(object.name()), text));
                about.clear();
            }
        });
        putAll(moved);
    }
}
