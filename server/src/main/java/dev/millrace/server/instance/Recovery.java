package dev.millrace.server.instance;

import dev.millrace.engine.runtime.Engine;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.sql.catalog.RelationNames;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * What became of each object when the database was opened, and the epochs of the rows that came again: until answers have these they
 * are those of an earlier moment, which nobody is to see who may have seen a later one. Safe on any thread.
 */
public final class Recovery {
    /** How an object came to be there again. */
    public enum Way {
        /** With the state that a checkpoint has of it; what came after that came again. */
        CHECKPOINT,
        /** Made again where it was made, among the rows that came again. */
        LOG,
        /** Without what it had: of a query, from what can be had of its inputs on. */
        ANEW
    }

    /**
     * What became of one object.
     *
     * @param number of the object, which nothing of its name that is made later has
     * @param reason why not more than that; empty where there is nothing to explain
     */
    public record Outcome(Way way, long number, String reason) {}

    /** What users see of it. */
    static final String RELATION = "millrace.recovery";

    private final Engine engine;
    private final Set<Long> epochs = ConcurrentHashMap.newKeySet(); // that were not seen to be in all answers
    private final Map<String, Long> lastOf =
            new ConcurrentHashMap<>(); // of each relation whose rows came again, and each answer that rows waited for
    private volatile boolean cameAll; // written by who opens the database, read by all
    private final Map<String, Outcome> outcomes = new ConcurrentSkipListMap<>();

    Recovery(Engine engine) {
        this.engine = engine;
    }

    /** Something is there again. What is said of it last counts. */
    public void came(String name, Outcome outcome) {
        outcomes.put(name, outcome);
    }

    /** Objects have other names, all at once. @param names the new ones, by those before */
    public void rename(Map<String, String> names) {
        RelationNames.rename(lastOf, names);
        RelationNames.rename(outcomes, names);
    }

    /** All that came again, by name. */
    public Map<String, Outcome> outcomes() {
        return outcomes;
    }

    /** Rows of a relation came again, the last of them so far in this epoch. */
    public void accepted(String relation, long epoch) {
        lastOf.put(relation, epoch);
    }

    /**
     * All came again.
     *
     * @param firstEpochs of queries that got their state while rows came again: those that waited for it are in that epoch
     */
    public void cameAll(Map<String, Long> firstEpochs, DatabaseCatalog catalog) {
        Map<String, Long> waited = new HashMap<>(firstEpochs);
        waited.keySet().removeIf(query -> target(query, catalog) == 0);
        lastOf.putAll(waited);
        epochs.addAll(lastOf.values());
        cameAll = true;
    }

    /** The epoch that brings a relation all its own rows that came again; 0 if none did. */
    public long last(String relation) {
        return lastOf.getOrDefault(relation, 0L);
    }

    /** The epoch that brings an object all that came again of what it reads, itself included; 0 if nothing did. */
    public long target(String name, DatabaseCatalog catalog) {
        return target(name, catalog, new HashSet<>());
    }

    private long target(String name, DatabaseCatalog catalog, Set<String> seen) {
        long last = lastOf.getOrDefault(name, 0L);
        if (seen.add(name)) {
            for (String read : catalog.object(name).map(CatalogObject::reads).orElse(Set.of())) {
                last = Math.max(last, target(read, catalog, seen));
            }
        }
        return last;
    }

    /** Whether all is known to have caught up. */
    public boolean isOver() {
        return cameAll && epochs.isEmpty();
    }

    /** Waits until some relations have caught up; before {@link #cameAll}, with all of their own rows that came again so far. */
    public void await(Collection<String> relations) {
        if (!cameAll) {
            for (String relation : relations) {
                Optional.ofNullable(lastOf.get(relation))
                        .filter(epoch -> engine.relations().rows(relation).isPresent()) // others have theirs elsewhere
                        .ifPresent(epoch -> engine.awaitEpoch(epoch, List.of(relation)));
            }
        } else if (!epochs.isEmpty() && !relations.isEmpty()) {
            epochs.removeIf(epoch -> engine.awaitEpoch(epoch, relations));
        }
    }
}
