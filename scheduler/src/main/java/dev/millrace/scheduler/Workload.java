package dev.millrace.scheduler;

import java.util.Optional;

/** What waits for a task and what it made of what came before, as it counts it itself. Any thread, often: no locks; about right is enough. */
public interface Workload {
    /** Of a task that does not say: nothing is known. */
    Workload UNKNOWN = new Workload() {};

    /** Rows waiting now. */
    default long queuedRows() {
        return 0;
    }

    /** Bytes waiting now. */
    default long queuedBytes() {
        return 0;
    }

    /** Time for which what came has waited, each batch's own, since it began: T_queue of EdgeWise, section 5.2. */
    default long queueNanos() {
        return 0;
    }

    /** Rows taken since it began. */
    default long rowsIn() {
        return 0;
    }

    /** Rows given on since it began. */
    default long rowsOut() {
        return 0;
    }

    /** Who takes its rows, if that is one task; nobody when they are answers, or go to several. */
    default Optional<ScheduledTask> downstream() {
        return Optional.empty();
    }

    /** When the query's next answer is due, if it has windows. */
    default Optional<WindowProgress> progress() {
        return Optional.empty();
    }
}
