package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a database must have: what is defined, and the rows of its relations after each change that it accepted, in their order.
 *
 * <p>Changes up to some one are known to be on disk: they were answered, or seen. A crash may take the later ones, but only from the
 * last on: the rows are those after some change. A change of a table that somebody was told of is seen by all who read that table. Of other
 * changes and in views, who did not make one, and did not wait for it by FLUSH, need not see it yet.
 */
final class HistoryModel {
    private Map<String, ModelObject> catalog = new LinkedHashMap<>();
    private final List<Map<String, ModelObject>> possibleCatalogs = new ArrayList<>(); // after a crash, beside that
    private Map<Integer, List<ModelRow>> flushed = new HashMap<>();
    private final List<ModelChange> later = new ArrayList<>();
    private int durable; // so many of them are on disk
    private final Map<Integer, Integer> told =
            new HashMap<>(); // by the numbers of tables, up to which of them somebody knows of
    private Map<Integer, List<ModelRow>> now = new HashMap<>();
    private int numbers;

    // ---- definitions -----------------------------------------------------------------------------------------------

    Map<String, ModelObject> catalog() {
        return catalog;
    }

    <T extends ModelObject> List<T> all(Class<T> kind) {
        return catalog.values().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    int newNumber() {
        return ++numbers;
    }

    /** The catalog with one object more, or another in the place of one of this name. */
    Map<String, ModelObject> with(ModelObject object) {
        Map<String, ModelObject> changed = new LinkedHashMap<>(catalog);
        changed.put(object.name(), object);
        return changed;
    }

    /** The catalog without an object and all that is made from it. */
    Map<String, ModelObject> without(String name) {
        Map<String, ModelObject> changed = new LinkedHashMap<>(catalog);
        changed.keySet().removeAll(withDependents(name));
        return changed;
    }

    /** An object and all that is made from it. */
    Set<String> withDependents(String name) {
        Set<String> found = new LinkedHashSet<>(Set.of(name));
        int before;
        do {
            before = found.size();
            for (ModelObject object : catalog.values()) {
                if (object.requires().stream().anyMatch(found::contains)) {
                    found.add(object.name());
                }
            }
        } while (found.size() > before);
        return found;
    }

    void define(Map<String, ModelObject> newCatalog) {
        catalog = newCatalog;
        possibleCatalogs.clear();
    }

    /** What a statement would have made that had no answer. */
    void mayDefine(Map<String, ModelObject> newCatalog) {
        possibleCatalogs.add(newCatalog);
    }

    List<Map<String, ModelObject>> possibleCatalogs() {
        return List.copyOf(possibleCatalogs);
    }

    /** What may be defined when the database is opened again. */
    List<Map<String, ModelObject>> catalogsAfterRestart() {
        List<Map<String, ModelObject>> all = new ArrayList<>(List.of(catalog));
        all.addAll(possibleCatalogs);
        return all;
    }

    /** Whether something that is made from streams is under a name. */
    boolean readsStream(String name) {
        ModelObject object = catalog.get(name);
        return object instanceof ModelObject.Stream || object.inputs().stream().anyMatch(this::readsStream);
    }

    /** Whether a name has an answer that is to be right now: tables, streams that keep their rows, and views of which none stands still. */
    boolean isShown(String name) {
        ModelObject object = catalog.get(name);
        if (object instanceof ModelObject.View view) {
            boolean hasAnswer = view.isMaterialized() || !readsStream(name);
            return hasAnswer && isUpToDate(name);
        }
        return object instanceof ModelObject.Table
                || object instanceof ModelObject.Derived
                || object instanceof ModelObject.Stream stream && stream.isRetained();
    }

    /** Whether neither it nor what it is made from stands still. */
    boolean isUpToDate(String name) {
        ModelObject object = catalog.get(name);
        boolean stands = object instanceof ModelObject.View view && (view.isPaused() || isStopped(view));
        return !stands && object.inputs().stream().allMatch(this::isUpToDate);
    }

    /** Whether it has readers of its own of what streams kept. */
    boolean beganInThePast(ModelObject.View view) {
        return view.isMaterialized()
                && view.inputs().stream()
                        .anyMatch(input -> catalog.get(input) instanceof ModelObject.Stream stream
                                && stream.isRetained()
                                && !view.since().containsKey(stream.rows()));
    }

    /** Whether all that it reads are streams that keep their rows, by readers of its own: while it is paused they wait for it. */
    boolean readsOnlyThePast(ModelObject.View view) {
        return beganInThePast(view)
                && view.inputs().stream()
                        .allMatch(input ->
                                catalog.get(input) instanceof ModelObject.Stream stream && stream.isRetained());
    }

    /** Whether a row that was not left out has made a view fail. */
    boolean isStopped(ModelObject.View view) {
        if (!view.shape().mayStop()) {
            return false;
        }
        int stream = ((ModelObject.Stream) catalog.get(view.inputs().get(0))).rows();
        List<ModelRow> all = rows(stream);
        int from = Math.max(view.leftOut(), view.since().getOrDefault(stream, 0));
        return all.subList(Math.min(from, all.size()), all.size()).stream()
                .anyMatch(row -> view.shape().isStoppedBy(row, view.number()));
    }

    /** Whether something may have stopped it, now or before. */
    boolean mayStop(String name) {
        ModelObject object = catalog.get(name);
        return object instanceof ModelObject.View view && view.shape().mayStop()
                || object.inputs().stream().anyMatch(this::mayStop);
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    List<ModelRow> rows(int number) {
        return now.getOrDefault(number, List.of());
    }

    /** The rows of all relations, by their numbers. */
    Map<Integer, List<ModelRow>> now() {
        return now;
    }

    /** What there would be, if this were defined and relations had these rows. */
    HistoryModel as(Map<String, ModelObject> otherCatalog, Map<Integer, List<ModelRow>> rows) {
        HistoryModel other = new HistoryModel();
        other.catalog = otherCatalog;
        other.now = rows;
        return other;
    }

    /** How many rows streams have had, by their numbers. */
    Map<Integer, Integer> streamLengths() {
        Map<Integer, Integer> lengths = new HashMap<>();
        all(ModelObject.Stream.class)
                .forEach(
                        stream -> lengths.put(stream.rows(), rows(stream.rows()).size()));
        return lengths;
    }

    void accept(ModelChange change) {
        if (!change.of().isEmpty()) {
            now = change.applied(now);
            later.add(change);
        }
    }

    /** A client heard that a change is there that was accepted last. */
    void tell(ModelChange change) {
        change.of().keySet().forEach(relation -> told.put(relation, later.size()));
    }

    /** Which of {@link #states} is the first that a table may be seen in. */
    int firstSeen(ModelObject.Table table) {
        return told.getOrDefault(table.rows(), 0);
    }

    /** Whether something is in the log of a change, before which all others are on disk when it is. */
    boolean isWrittenDown(ModelChange change) {
        return change.of().entrySet().stream()
                .anyMatch(entry -> !entry.getValue().gone().isEmpty()
                        || !entry.getValue().come().isEmpty());
    }

    /** How many changes were accepted since all was shown. */
    int accepted() {
        return later.size();
    }

    /** All that was accepted is on disk. */
    void allIsDurable() {
        durable = later.size();
    }

    /** All that was accepted is on disk, and seen by everybody. */
    void allIsShown() {
        flushed = now;
        later.clear();
        told.clear();
        durable = 0;
    }

    boolean isAllShown() {
        return later.isEmpty();
    }

    /** The rows of all relations as of the last FLUSH, and after each change since. */
    List<Map<Integer, List<ModelRow>>> states() {
        List<Map<Integer, List<ModelRow>>> states = new ArrayList<>(List.of(flushed));
        for (ModelChange change : later) {
            states.add(change.applied(states.get(states.size() - 1)));
        }
        return states;
    }

    /** Someone saw what one of these was. */
    void seen(int state) {
        durable = Math.max(durable, state);
    }

    /** The rows of all relations that a database may have that is opened now: the least that it must first. */
    List<Map<Integer, List<ModelRow>>> statesAfterRestart() {
        List<Map<Integer, List<ModelRow>>> states = states();
        return states.subList(durable, states.size());
    }

    /** The database was opened again, and this is there. */
    void reopened(Map<String, ModelObject> foundCatalog, Map<Integer, List<ModelRow>> foundRows) {
        Map<String, ModelObject> there = new LinkedHashMap<>(foundCatalog);
        there.replaceAll((name, object) -> notAhead(object, foundCatalog, foundRows));
        define(there);
        now = foundRows;
        allIsShown();
    }

    /** What began behind rows that nobody had an answer for, and that a crash took, begins behind those that are left. */
    private static ModelObject notAhead(
            ModelObject object, Map<String, ModelObject> catalog, Map<Integer, List<ModelRow>> rows) {
        if (object instanceof ModelObject.View view) {
            return view.notAheadOf(rows);
        } else if (object instanceof ModelObject.Sink sink
                && catalog.get(sink.stream()) instanceof ModelObject.Stream stream) {
            int count = rows.getOrDefault(stream.rows(), List.of()).size();
            return new ModelObject.Sink(sink.name(), sink.stream(), sink.number(), Math.min(sink.since(), count));
        } else if (object instanceof ModelObject.Derived derived
                && catalog.get(derived.stream()) instanceof ModelObject.Stream stream) {
            int count = rows.getOrDefault(stream.rows(), List.of()).size();
            return new ModelObject.Derived(
                    derived.name(),
                    derived.shape(),
                    derived.number(),
                    derived.stream(),
                    Math.min(derived.since(), count));
        }
        return object;
    }

    /** What a name answers, where relations have these rows. */
    static List<ModelRow> answer(Map<String, ModelObject> catalog, String name, Map<Integer, List<ModelRow>> rows) {
        return answer(catalog, name, rows, Map.of(), Map.of());
    }

    private static List<ModelRow> answer(
            Map<String, ModelObject> catalog,
            String name,
            Map<Integer, List<ModelRow>> rows,
            Map<Integer, Integer> since,
            Map<Integer, Integer> until) {
        ModelObject object = catalog.get(name);
        if (object instanceof ModelObject.Table table) {
            return rows.getOrDefault(table.rows(), List.of());
        }
        if (object instanceof ModelObject.Stream stream) {
            List<ModelRow> all = rows.getOrDefault(stream.rows(), List.of());
            int end = Math.min(all.size(), until.getOrDefault(stream.rows(), all.size()));
            return all.subList(Math.min(end, since.getOrDefault(stream.rows(), 0)), end);
        }
        if (object instanceof ModelObject.Derived derived) {
            List<ModelRow> all = answer(catalog, derived.stream(), rows);
            List<ModelRow> read = all.subList(Math.min(all.size(), derived.since()), all.size());
            return derived.shape().answer(read, List.of(), derived.number());
        }
        ModelObject.View view = (ModelObject.View) object;
        Map<Integer, Integer> from = view.isMaterialized() ? view.since() : since;
        List<List<ModelRow>> inputs = view.inputs().stream()
                .map(input -> answer(catalog, input, rows, from, view.isMaterialized() ? view.until() : until))
                .toList();
        return view.shape().answer(inputs.get(0), inputs.size() > 1 ? inputs.get(1) : List.of(), view.number());
    }

    /** What a name answers now. */
    List<ModelRow> answer(String name) {
        List<ModelRow> rows = answer(catalog, name, now);
        return catalog.get(name) instanceof ModelObject.Stream
                ? rows.stream().map(row -> ModelRow.of(row.key(), row.value())).toList()
                : rows;
    }

    /** How a name is asked for what {@link #answer} says of it. */
    String query(String name) {
        return "SELECT " + (catalog.get(name) instanceof ModelObject.Stream ? "k, v" : "*") + " FROM " + name;
    }

    /** How many rows came too late for a view that reads a stream, since it is there. */
    long lateRows(ModelObject.View view) {
        return view.shape().lateRows(answer(catalog, view.inputs().get(0), now, view.since(), Map.of()), view.number());
    }

    Optional<ModelObject.Table> table(String name) {
        return Optional.ofNullable(catalog.get(name))
                .filter(ModelObject.Table.class::isInstance)
                .map(ModelObject.Table.class::cast);
    }
}
