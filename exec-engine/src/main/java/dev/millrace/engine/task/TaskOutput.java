package dev.millrace.engine.task;

import dev.millrace.engine.channel.Outlet;
import java.util.List;

/** Where the rows of a query leave it. */
public interface TaskOutput {
    /** Whether several tasks may bring them, each through an outlet of its own. */
    boolean takesSeveral();

    /** An outlet for each of the last tasks; called once, before they run. */
    List<Outlet> outlets(int tasks);
}
