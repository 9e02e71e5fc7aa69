package dev.millrace.expressions.python;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The processes of this one that run Python, at most so many: each runs one function, for one caller at a time. One that nobody needs is
 * kept for the next call, until another function needs its place or a minute or two went by. Safe on any thread.
 */
public final class PythonWorkers {
    private static final long MOST_IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final PythonWorkers ALL = new PythonWorkers();

    @GuardedBy("this") private final List<PythonWorker> idle = new ArrayList<>(); // the one that was used last at the end

    @GuardedBy("this") private int processes; // also those that are about to be

    @GuardedBy("this") private PythonOptions options = PythonOptions.defaults();

    @GuardedBy("this") private boolean looksLater; // for those that nobody needs

    private PythonWorkers() {}

    /** Those of this process. */
    public static PythonWorkers all() {
        return ALL;
    }

    /** How processes are run from now on; those that are there and idle end. */
    public synchronized void use(PythonOptions newOptions) {
        options = newOptions;
        while (!idle.isEmpty()) {
            end(idle.get(0));
        }
        notifyAll();
    }

    /** How many processes there are. */
    public synchronized int count() {
        return processes;
    }

    /**
     * A process for a function, the caller's until {@link #giveBack}: one that has run it before, or a new one that is about to be
     * {@linkplain PythonWorker#start started}.
     *
     * @throws InterruptedException while waiting for a place
     */
    public synchronized PythonWorker borrow(PythonFunction function) throws InterruptedException {
        endForgotten();
        while (true) {
            for (int i = idle.size() - 1; i >= 0; i--) {
                PythonWorker worker = idle.get(i);
                if (!worker.isAlive()) {
                    end(worker);
                } else if (worker.function().equals(function)) {
                    idle.remove(i);
                    return worker;
                }
            }
            if (processes >= options.mostProcesses() && !idle.isEmpty()) {
                end(idle.get(0));
            }
            if (processes < options.mostProcesses()) {
                processes++;
                return new PythonWorker(function, options);
            }
            wait();
        }
    }

    /** Takes one back; it is ended unless it can be used again. */
    public synchronized void giveBack(PythonWorker worker, boolean usable) {
        worker.idleSince(System.nanoTime());
        idle.add(worker);
        if (!usable || processes > options.mostProcesses()) {
            end(worker);
        }
        endForgotten();
        lookLater();
        notifyAll();
    }

    @GuardedBy("this") private void lookLater() {
        if (!looksLater && !idle.isEmpty()) {
            looksLater = true;
            CompletableFuture.delayedExecutor(MOST_IDLE_NANOS, TimeUnit.NANOSECONDS)
                    .execute(this::look);
        }
    }

    private synchronized void look() {
        looksLater = false;
        endForgotten();
        lookLater();
    }

    @GuardedBy("this") private void endForgotten() {
        long now = System.nanoTime();
        while (!idle.isEmpty() && now - idle.get(0).idleSince() > MOST_IDLE_NANOS) {
            end(idle.get(0));
        }
    }

    @GuardedBy("this") private void end(PythonWorker worker) {
        idle.remove(worker);
        processes--;
        worker.kill();
    }
}
