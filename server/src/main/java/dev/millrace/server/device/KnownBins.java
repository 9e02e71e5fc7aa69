package dev.millrace.server.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connectors.kafka.KafkaTopics;
import dev.millrace.connectors.kafka.TopicFollower;
import dev.millrace.error.MillraceException;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.segment.Versions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The bins that segments of a topic refer to: those that the topic of bins has, and those that segments announced. Decoders that are open
 * share them, up to some bytes; what was announced longest ago is forgotten first. The topic is followed while there is a decoder. Safe on
 * any thread.
 */
final class KnownBins implements TopicFollower.Records {
    private static final int OVERHEAD_BYTES = 160;
    private static final int MOST_PROBLEMS = 16;
    private static final long NOT_FOLLOWED = 0;

    private final KafkaTopics brokers;
    private final String topic;
    private final long mostBytes;
    private final long patienceNanos;

    /** What a segment says of its version: the incarnation's last bits alone, so that there may be several. */
    private record Place(String device, int tag, int number) {}

    private record Known(long incarnation, byte[] announcement) {}

    @GuardedBy("this") private final Map<Place, List<Known>> known = new LinkedHashMap<>(); // last announced last

    @GuardedBy("this") private long knownBytes;

    @GuardedBy("this") private long forgotten;

    @GuardedBy("this") private final Deque<String> problems = new ArrayDeque<>();

    @GuardedBy("this") private final Set<Runnable> listeners = new HashSet<>();

    @GuardedBy("this") private Optional<TopicFollower> follower = Optional.empty();

    /** @param patienceMicros how long after a segment the bins may come that it needs */
    KnownBins(KafkaTopics brokers, String topic, long mostBytes, long patienceMicros) {
        this.brokers = brokers;
        this.topic = topic;
        this.mostBytes = mostBytes;
        this.patienceNanos = TimeUnit.MICROSECONDS.toNanos(patienceMicros);
    }

    long patienceNanos() {
        return patienceNanos;
    }

    /** A decoder is there, which is told when something has come that it may wait for. */
    synchronized void open(Runnable listener) {
        listeners.add(listener);
        if (follower.isEmpty()) {
            follower = Optional.of(brokers.follow(topic, this));
        }
    }

    /** It is gone. */
    synchronized void close(Runnable listener) {
        listeners.remove(listener);
        if (listeners.isEmpty()) {
            follower.ifPresent(TopicFollower::close);
            follower = Optional.empty();
            known.clear();
            knownBytes = 0;
        }
    }

    /** Asks for all that is in the topic by now. */
    synchronized long ask() {
        return follower.map(TopicFollower::ask).orElse(NOT_FOLLOWED);
    }

    /** Whether all is known that was in the topic when {@link #ask} gave this. */
    synchronized boolean hasReached(long asked) {
        return follower.map(from -> from.hasReached(asked)).orElse(true);
    }

    /** What cannot be read for now. */
    synchronized Optional<String> waitsFor() {
        return follower.flatMap(TopicFollower::waitsFor);
    }

    /** What of the topic was no bins, since this was asked for last; the first ones. */
    synchronized List<String> problems() {
        List<String> all = List.copyOf(problems);
        problems.clear();
        return all;
    }

    /** Those that a segment may refer to. */
    Versions of(String device, SketchHeader segment) {
        int number = segment.announcement() == Announcement.CHANGE ? segment.version() - 1 : segment.version();
        List<Known> candidates;
        synchronized (this) {
            candidates = known.getOrDefault(new Place(device, segment.tag(), number), List.of());
        }
        Versions versions = new Versions();
        candidates.forEach(each -> versions.add(VersionCodec.decode(each.announcement())));
        return versions;
    }

    /** A segment announced a version that others may refer to. */
    void add(String device, StreamVersion version) {
        add(device, version, VersionCodec.encode(version));
    }

    private synchronized void add(String device, StreamVersion version, byte[] announcement) {
        if (follower.isEmpty()) {
            return; // of a thread that has not heard of the end
        }
        int tag = (int) version.incarnation() & 0xffff;
        Place place = new Place(device, tag, version.number());
        List<Known> others = new ArrayList<>(remove(place));
        boolean isThere = others.stream().anyMatch(each -> each.incarnation() == version.incarnation());
        if (!isThere) {
            others.add(new Known(version.incarnation(), announcement));
        }
        known.put(place, List.copyOf(others));
        others.forEach(each -> knownBytes += bytes(place, each));
        while (knownBytes > mostBytes) {
            forgotten += remove(known.keySet().iterator().next()).size();
        }
    }

    @GuardedBy("this") private List<Known> remove(Place place) {
        List<Known> removed = known.remove(place);
        if (removed == null) {
            return List.of();
        }
        removed.forEach(each -> knownBytes -= bytes(place, each));
        return removed;
    }

    private static long bytes(Place place, Known of) {
        return OVERHEAD_BYTES + place.device().length() + of.announcement().length;
    }

    @Override
    public void take(byte[] key, Optional<byte[]> value) {
        if (value.isEmpty()) {
            return; // segments that are there may still refer to what is removed
        }
        Optional<String> device = SegmentTopics.deviceOfBins(key);
        try {
            StreamVersion version = VersionCodec.decode(value.get());
            device.ifPresentOrElse(of -> add(of, version, value.get()), () -> problem("its key names no device"));
        } catch (MillraceException e) {
            problem(String.valueOf(e.getMessage()));
        }
    }

    private synchronized void problem(String what) {
        if (problems.size() < MOST_PROBLEMS) {
            problems.add("a record of topic " + topic + " is no bins: " + what);
        }
    }

    @Override
    public void news() {
        List<Runnable> all;
        synchronized (this) {
            all = List.copyOf(listeners);
        }
        all.forEach(Runnable::run);
    }

    /** How many were forgotten as there was no room. */
    synchronized long forgotten() {
        return forgotten;
    }

    @Override
    public String toString() {
        return "topic " + topic;
    }
}
