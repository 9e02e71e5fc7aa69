package dev.millrace.engine.task;

/** What an operator is that can let go of something when others have come as far as it is. On the task's thread. */
public interface Settling {
    /** Called when there is nothing else to do; not in the midst of what follows from a row. */
    void settle();
}
