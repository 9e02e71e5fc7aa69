package dev.millrace.planner.fact;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What is known of a node's output.
 *
 * @param appendOnly no row is ever retracted
 * @param eventTimes columns of which the watermark says that no older value is expected
 * @param windows columns whose windows are closed by the watermark (of a finite query: by the end of the input)
 */
public record Facts(boolean appendOnly, Set<Integer> eventTimes, List<WindowColumns> windows) {
    public Facts {
        eventTimes = Set.copyOf(eventTimes);
        windows = List.copyOf(windows);
    }

    /** The windows that a column is a bound of. */
    public Optional<WindowColumns> windowsOf(int column) {
        return windows.stream().filter(window -> window.has(column)).findFirst();
    }
}
