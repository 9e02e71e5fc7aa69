package dev.millrace.connectors.mqtt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages of QoS 2 of one connection, by packet id. Each stream that takes one keeps its id in the same entry of the journal as the row, and
 * forgets the id when the broker has released it; what the broker is told waits for these entries.
 *
 * <pre>
 *   PUBLISH id -> streams that do not know the id take message and id -> on disk -> PUBREC id
 *   PUBREL id  -> streams that know it forget it                      -> on disk -> PUBCOMP id
 * </pre>
 *
 * A broker gives no new message an id before it has that PUBCOMP, so that an id that is known is a message that is known, whatever was lost: a connection, or this process.
 * Safe on any thread.
 */
final class ExactlyOnce {
    /** Who tells the broker. */
    interface Answers {
        /** @param generation of the connection on which it is to be told, if that is still there */
        void received(int id, int generation);

        void completed(int id, int generation);
    }

    private final Answers answers;

    @GuardedBy("this") private final Map<Integer, Step> open = new HashMap<>();

    /** What is not on disk yet. */
    private static final class Step {
        final boolean isRelease;
        int left; // streams
        int generation; // of the connection on which the broker asked for it last
        List<MqttSubscription> thenRelease = List.of(); // if PUBREL came before its time

        Step(boolean isRelease, int left, int generation) {
            this.isRelease = isRelease;
            this.left = left;
            this.generation = generation;
        }
    }

    ExactlyOnce(Answers answers) {
        this.answers = answers;
    }

    /** @param takers all streams that are to have it */
    synchronized void arrived(ArrivedMessage message, int generation, List<MqttSubscription> takers) {
        int id = message.id();
        Step known = open.get(id);
        if (known != null && !known.isRelease) {
            known.generation = generation; // it comes again before it is on disk
            return;
        }
        List<MqttSubscription> missing =
                takers.stream().filter(each -> !each.knows(id)).toList();
        if (missing.isEmpty()) {
            answers.received(id, generation);
            return;
        }
        Step step = new Step(false, missing.size(), generation);
        open.put(id, step);
        missing.forEach(each -> each.takeOnce(message, () -> done(id, step)));
    }

    /** @param all streams that there are */
    synchronized void released(int id, int generation, List<MqttSubscription> all) {
        Step known = open.get(id);
        if (known != null) {
            known.generation = generation;
            known.thenRelease = known.isRelease ? List.of() : List.copyOf(all);
            return;
        }
        List<MqttSubscription> knowing =
                all.stream().filter(each -> each.knows(id)).toList();
        if (knowing.isEmpty()) {
            answers.completed(id, generation);
            return;
        }
        Step step = new Step(true, knowing.size(), generation);
        open.put(id, step);
        knowing.forEach(each -> each.forget(id, () -> done(id, step)));
    }

    /** One of its streams has it on disk, or is gone. */
    private synchronized void done(int id, Step step) {
        if (--step.left > 0 || !open.remove(id, step)) {
            return;
        }
        if (step.isRelease) {
            answers.completed(id, step.generation);
            return;
        }
        answers.received(id, step.generation);
        if (!step.thenRelease.isEmpty()) {
            released(id, step.generation, step.thenRelease);
        }
    }

    /** The broker gives ids anew. */
    synchronized void clear() {
        open.clear();
    }
}
