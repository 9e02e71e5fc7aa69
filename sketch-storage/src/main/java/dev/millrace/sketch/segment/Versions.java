package dev.millrace.sketch.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.bits.Damage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The versions of one stream that a reader has come to know, of all lives of its encoder. Reading a segment adds what it
 * announces; a segment of a version not yet known has to wait until it is announced. Safe on any thread.
 */
public final class Versions {
    private static final int MOST_KEPT = 1024;

    private record Key(long incarnation, int number) {}

    @GuardedBy("this") private final Map<Key, StreamVersion> known = new LinkedHashMap<>(); // those added last behind

    private volatile Optional<StreamVersion> latest =
            Optional.empty(); // most segments are of it; written with the lock

    /** The version of this number of an incarnation. */
    public synchronized Optional<StreamVersion> find(long incarnation, int number) {
        return Optional.ofNullable(known.get(new Key(incarnation, number)));
    }

    /** The version added last, which most segments are of. */
    Optional<StreamVersion> latest() {
        return latest;
    }

    /** The versions of this number, mostly one, of incarnations that end in these 16 bits. */
    synchronized List<StreamVersion> ending(int tag, int number) {
        List<StreamVersion> found = new ArrayList<>(1);
        for (StreamVersion version : known.values()) {
            if (version.number() == number && SketchHeader.tag(version.incarnation()) == tag) {
                found.add(version);
            }
        }
        return found;
    }

    /** Says that a segment has to wait. */
    synchronized MillraceException unknown(SketchHeader header, int number) {
        List<Integer> numbers = known.keySet().stream()
                .filter(key -> SketchHeader.tag(key.incarnation()) == header.tag())
                .map(Key::number)
                .sorted()
                .toList();
        String what = numbers.isEmpty()
                ? known.isEmpty() ? "none is known" : "none of its incarnation is known"
                : "known are " + numbers.get(0) + " to " + numbers.get(numbers.size() - 1);
        return MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "the segment needs version " + number + " of its stream's bins, but " + what)
                .withHint("Read the segments in order, ask the encoder to announce its version, or for self-contained"
                        + " segments.");
    }

    /**
     * Adds a version; the oldest of more than a thousand are forgotten.
     *
     * @throws MillraceException DATA_CORRUPTED if another one of this incarnation and number is known
     */
    public synchronized void add(StreamVersion version) {
        Key key = new Key(version.incarnation(), version.number());
        StreamVersion before = known.remove(key); // to the end
        // The first format knows no incarnations: there a number begins again with each life of an encoder.
        if (before != null && version.incarnation() != 0 && !before.equals(version)) {
            known.put(key, before);
            throw Damage.damaged("it announces version " + version.number() + " as another than was announced before");
        }
        known.put(key, version);
        latest = Optional.of(version);
        if (known.size() > MOST_KEPT) {
            known.remove(known.keySet().iterator().next());
        }
    }
}
