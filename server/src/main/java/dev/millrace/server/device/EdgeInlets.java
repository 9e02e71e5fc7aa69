package dev.millrace.server.device;

import dev.millrace.edge.program.RowProgram;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The streams of a database that devices send to, by what devices call them. Safe on any thread. */
public final class EdgeInlets {
    private final Map<String, EdgeInlet> byName = new ConcurrentHashMap<>();
    private final Map<String, Map<String, RowProgram>> needs = new ConcurrentHashMap<>(); // by query, then stream
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /** The one that devices call so. */
    public Optional<EdgeInlet> named(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    void add(String name, EdgeInlet inlet) {
        if (byName.putIfAbsent(name, inlet) != null) {
            throw MillraceException.user(
                            SqlState.DUPLICATE_OBJECT,
                            "what devices send as \"" + name + "\" is another stream's already")
                    .withHint("a standing query can read that stream for another one");
        }
        listeners.forEach(Runnable::run);
    }

    void remove(String name, EdgeInlet inlet) {
        byName.remove(name, inlet);
    }

    /** Has somebody told when a stream comes that was not there. */
    public void onNew(Runnable then) {
        listeners.add(then);
    }

    public void forget(Runnable listener) {
        listeners.remove(listener);
    }

    /**
     * Sets how devices sketch a stream.
     *
     * @param stream its name in SQL
     * @param device one, or all
     * @throws MillraceException 42704 if devices do not send to it, 22023 if there is no such setting, 58030 if it cannot be kept
     */
    public void set(String stream, Optional<String> device, Map<String, String> changes) {
        EdgeInlet inlet = byName.values().stream()
                .filter(each -> each.stream().equals(stream))
                .findFirst()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "devices do not send to \"" + stream + "\"; a stream of connector edge has devices"));
        inlet.set(device, changes);
    }

    /**
     * What a query needs of streams from now on: of each, by its name in SQL, which rows and columns; nothing of others. Devices that send only what is needed
     * are told soon.
     */
    public void needs(String query, Map<String, RowProgram> ofStreams) {
        Map<String, RowProgram> before = ofStreams.isEmpty() ? needs.remove(query) : needs.put(query, ofStreams);
        Set<String> changed = new HashSet<>(ofStreams.keySet());
        if (before != null) {
            changed.addAll(before.keySet());
        }
        byName.values().stream()
                .filter(inlet -> changed.contains(inlet.stream()))
                .forEach(EdgeInlet::programsChanged);
    }

    /** What queries need of a stream, by their names. */
    Map<String, String> programs(String stream) {
        Map<String, String> programs = new TreeMap<>();
        needs.forEach((query, ofStreams) ->
                Optional.ofNullable(ofStreams.get(stream)).ifPresent(program -> programs.put(query, program.text())));
        return programs;
    }

    /** How all devices are. */
    public List<EdgeStatus> status() {
        List<EdgeStatus> all = new ArrayList<>();
        new TreeMap<>(byName).values().forEach(inlet -> all.addAll(inlet.status()));
        return all;
    }
}
