package dev.millrace.engine.runtime;

import dev.millrace.engine.statistic.OperatorStatistics;
import java.util.List;
import java.util.Map;

/**
 * The state of a standing query at the end of an epoch, in memory.
 *
 * @param epoch the last whose effects are in
 * @param tasks how many tasks work side by side; a query restored from it has as many where its state belongs to them
 * @param finished whether the query had come to its end: then there is no state, only the answer
 * @param operators per operator id (see {@link OperatorStatistics}) and instance, the bytes of each state and key group
 * @param view the rows of its materialized answer, as the view writes them; empty if it has none
 */
public record QuerySnapshot(
        long epoch, int tasks, boolean finished, Map<String, List<Part>> operators, List<Part> view) {
    public QuerySnapshot {
        operators = Map.copyOf(operators);
        view = List.copyOf(view);
    }

    /** One key group (or -1: the instance's own) of one named state. The bytes are not to be changed. */
    public record Part(String name, int keyGroup, byte[] bytes) {}
}
