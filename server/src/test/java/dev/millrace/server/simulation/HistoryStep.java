package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One thing that happens in a history.
 *
 * @param seed decides all about it that its kind leaves open, with what there is when it happens
 */
record HistoryStep(Kind kind, long seed) {
    private static final int FIRST_DEFINITIONS = 4;

    /** What happens, and how often as one part of all. */
    enum Kind {
        CHANGE(300),
        BEGIN(12),
        END(40),
        DEFINE(70),
        SELECT(60),
        FLUSHED_SELECT(35),
        CHECKPOINT(20),
        SUBSCRIBE(12),
        RECEIVE(30),
        DURABLE(45),
        PAUSE(10),
        LEAVE_OUT(45),
        RETENTION(20),
        REPROCESS(100),
        SECRET(12),
        SYSTEM(8),
        ASYNCHRONOUS(10),
        WORK(60),
        TIME(15),
        WEATHER(26),
        CAPACITY(8),
        CALM(20),
        KILL_SOON(20),
        KILL(8),
        CRASH(10),
        RESTART(8);

        private final int weight;

        Kind(int weight) {
            this.weight = weight;
        }

        boolean isFault() {
            return compareTo(WEATHER) >= 0;
        }
    }

    /** A whole history. */
    static List<HistoryStep> script(long seed, int steps) {
        Random random = new Random(seed);
        int all = 0;
        for (Kind kind : Kind.values()) {
            all += kind.weight;
        }
        List<HistoryStep> script = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            int left = random.nextInt(all);
            int kind = 0;
            while (left >= Kind.values()[kind].weight) {
                left -= Kind.values()[kind++].weight;
            }
            Kind first = i < FIRST_DEFINITIONS ? Kind.DEFINE : Kind.values()[kind];
            script.add(new HistoryStep(first, random.nextLong()));
        }
        return script;
    }
}
