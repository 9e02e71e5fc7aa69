package dev.millrace.server.storage;

import dev.millrace.server.storage.CatalogRecord.Access;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.text.PackedText;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** What all records together say: what there is now. */
public final class KeptCatalog {
    private static final String SUPERUSER = "millrace";

    private final Map<String, KeptObject> objects = new LinkedHashMap<>();
    private final TreeMap<Commented, String> comments = new TreeMap<>();
    private Optional<KeptObject> last =
            Optional.empty(); // that was defined: what comes next is likely to have much in common with it
    private Access access = Access.NONE;
    private Map<String, String> settings = Map.of();
    private Optional<Map<String, KnownLog>> logs = Optional.empty();

    /** The next record. */
    void apply(CatalogRecord record) {
        record.changes().forEach(this::apply);
        record.access().ifPresent(now -> {
            access = now;
            objects.replaceAll((name, object) -> object.withOwner(now.owners().getOrDefault(name, SUPERUSER)));
        });
        record.settings().ifPresent(now -> settings = Map.copyOf(now));
        record.logs().ifPresent(now -> logs = Optional.of(Map.copyOf(now)));
    }

    private void apply(CatalogChange change) {
        if (change instanceof CatalogChange.Define define) {
            objects.remove(define.object().name()); // what it reads now may be younger than it was
            KeptObject object = last.map(define.object()::sharing).orElse(define.object());
            objects.put(object.name(), object);
            last = Optional.of(object);
        } else if (change instanceof CatalogChange.Drop drop) {
            objects.remove(drop.name());
            Commented.about(comments, drop.name()).clear();
        } else if (change instanceof CatalogChange.Pause pause) {
            objects.computeIfPresent(pause.name(), (name, object) -> object.withPaused(pause.since()));
        } else if (change instanceof CatalogChange.Comment comment) {
            comments.remove(comment.on());
            comment.text().ifPresent(text -> comments.put(comment.on(), text));
        }
    }

    /** Those that others read come before these. */
    public Collection<KeptObject> objects() {
        return objects.values();
    }

    /** An object was made again: its text is there once from now on. */
    public void wasMadeAgain(String name, PackedText text) {
        object(name)
                .filter(object -> object.text().equals(text))
                .ifPresent(object -> objects.replace(name, object.withText(text))); // whoever goes through them goes on
    }

    public Optional<KeptObject> object(String name) {
        return Optional.ofNullable(objects.get(name));
    }

    /** Comments on objects, on schemas that are always there, and on the database. */
    public SortedMap<Commented, String> comments() {
        return comments;
    }

    /** Roles and privileges, with the owners that objects have now. */
    public Access access() {
        Map<String, String> owners = new HashMap<>();
        for (KeptObject object : objects.values()) {
            if (!object.owner().equals(SUPERUSER) && !object.owner().isEmpty()) {
                owners.put(object.name(), object.owner());
            }
        }
        return new Access(access.roles(), owners, access.grants());
    }

    public Map<String, String> settings() {
        return settings;
    }

    /** The logs that belong to it, by their directories; none where no version has written that. */
    public Optional<Map<String, KnownLog>> logs() {
        return logs;
    }

    /** What these records say together. */
    public static KeptCatalog of(List<CatalogRecord> records) {
        KeptCatalog catalog = new KeptCatalog();
        records.forEach(catalog::apply);
        return catalog;
    }

    /** Records that make this catalog of an empty one, as few as possible. */
    public List<CatalogRecord> records() {
        List<CatalogRecord> records = new ArrayList<>();
        for (KeptObject object : objects.values()) {
            List<CatalogChange> changes = new ArrayList<>();
            changes.add(new CatalogChange.Define(object));
            if (object.paused().isPresent()) {
                changes.add(new CatalogChange.Pause(object.name(), object.paused()));
            }
            Commented.about(comments, object.name()).forEach((on, text) -> changes.add(comment(on, text)));
            records.add(new CatalogRecord(changes, Optional.empty(), Optional.empty()));
        }
        List<CatalogChange> others = new ArrayList<>();
        comments.forEach((on, text) -> {
            if (!objects.containsKey(on.name())) {
                others.add(comment(on, text));
            }
        });
        records.add(new CatalogRecord(others, Optional.empty(), Optional.empty()));
        Access now = access();
        records.add(new CatalogRecord(
                List.of(),
                now.equals(Access.NONE) ? Optional.empty() : Optional.of(now),
                settings.isEmpty() ? Optional.empty() : Optional.of(settings),
                logs));
        records.removeIf(CatalogRecord::isEmpty);
        return records;
    }

    private static CatalogChange comment(Commented on, String text) {
        return new CatalogChange.Comment(on, Optional.of(text));
    }

    /** The numbers of all objects. */
    public Set<Long> numbers() {
        Set<Long> numbers = new HashSet<>();
        objects().forEach(object -> object.number().ifPresent(numbers::add));
        return numbers;
    }
}
