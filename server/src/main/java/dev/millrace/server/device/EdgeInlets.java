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
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Consumer;

/** The streams of a database that devices send to, by what devices call them. Safe on any thread. */
public final class EdgeInlets {
    private final Map<String, EdgeInlet> byName = new ConcurrentHashMap<>();
    private final Map<String, Map<String, RowProgram>> needs = new ConcurrentHashMap<>(); // by query, then stream
    private final Map<String, Set<PartialsInlet>> followers =
            new ConcurrentHashMap<>(); // by what devices call the stream
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

    // ---- windows that devices make
    // ---------------------------------------------------------------------------------

    /** Those that are handed what a stream takes. */
    Set<PartialsInlet> followers(String name) {
        return followers.computeIfAbsent(name, first -> new CopyOnWriteArraySet<>());
    }

    /** One more is handed what the stream takes, from the first record on that it takes. */
    void follow(String name, PartialsInlet follower) {
        followers(name).add(follower);
    }

    /** The same of one that begins; false if the stream is not there for now. */
    boolean begin(String name, PartialsInlet follower) {
        return onThread(name, inlet -> inlet.begin(follower));
    }

    /** It is handed nothing more, devices are told so, and nothing waits for it. */
    void unfollow(String name, PartialsInlet follower) {
        followers(name).remove(follower);
        programsChanged(name);
        onThread(name, EdgeInlet::acknowledgeAll);
    }

    /** A follower has begun, or is gone. */
    void programsChanged(String name) {
        named(name).ifPresent(EdgeInlet::programsChanged);
    }

    /** A follower has more of a device on disk. */
    void acknowledge(String name, String device) {
        onThread(name, inlet -> inlet.acknowledgeAgain(device));
    }

    /** A follower misses a record of a device. */
    void again(String name, String device) {
        onThread(name, inlet -> inlet.sendAgain(device));
    }

    /** A follower has room again. */
    void wakeUp(String name) {
        onThread(name, inlet -> {});
    }

    private boolean onThread(String name, Consumer<EdgeInlet> work) {
        Optional<EdgeInlet> inlet = named(name);
        inlet.ifPresent(each -> each.onThread(() -> work.accept(each)));
        return inlet.isPresent();
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
