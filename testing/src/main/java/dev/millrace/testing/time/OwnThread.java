package dev.millrace.testing.time;

import java.util.concurrent.Executor;

/**
 * Gives each task a thread of its own. The common pool, which {@code CompletableFuture} takes otherwise, has one thread on a
 * machine of two cores: from JDK 25 on a task that waits for the next one to begin would wait for ever.
 */
public final class OwnThread {
    public static final Executor EACH = task -> {
        Thread thread = new Thread(task, "test task");
        thread.setDaemon(true);
        thread.start();
    };

    private OwnThread() {}
}
