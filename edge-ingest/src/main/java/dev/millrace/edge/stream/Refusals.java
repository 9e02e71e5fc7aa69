package dev.millrace.edge.stream;

import dev.millrace.edge.queue.EdgeQueue;
import dev.millrace.edge.queue.RejectedLines;
import dev.millrace.edge.queue.RejectedLines.Rejected;
import dev.millrace.edge.queue.TakenCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What of an input was no row: how much ever, and the first of it since the last commit, which goes to the server. Of one thread. */
final class Refusals {
    private final List<Rejected> first = new ArrayList<>();
    private long since; // the last commit
    private long all;
    private Optional<String> last;

    Refusals(TakenCounts before) {
        all = before.rejected();
        last = Optional.of(before.lastRejected()).filter(text -> !text.isEmpty());
    }

    /**
     * One more.
     *
     * @param column that failed, or empty
     * @param text of the record, or empty
     */
    void add(String column, String why, String text) {
        all++;
        since++;
        if (first.size() < RejectedLines.MOST) {
            first.add(new Rejected(column, why, text));
        }
        last = Optional.of((column.isEmpty() ? "" : column + ": ") + why + (text.isEmpty() ? "" : ": " + text));
    }

    /** Something is to be said that is not about one record. */
    void note(String text) {
        last = Optional.of(text);
    }

    long all() {
        return all;
    }

    /** Why the last of them was no row. */
    Optional<String> last() {
        return last;
    }

    void addTo(EdgeQueue.Commit commit) {
        if (since > 0) {
            commit.rejected(new RejectedLines(all - since, since, first));
        }
    }

    void committed() {
        first.clear();
        since = 0;
    }
}
